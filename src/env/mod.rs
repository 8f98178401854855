//! The FinQA environment: financial tables, four tools, a reward.
