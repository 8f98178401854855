//! A typed state graph on petgraph. Knows no finance and no models.
