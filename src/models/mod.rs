//! Chat models behind one trait: providers, transport, retry, capabilities, prices. Knows no finance.
