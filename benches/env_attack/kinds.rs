//! What the attackers do.

/// What an attacker does, over and over.
#[derive(Clone, Copy)]
pub enum Attack {
    /// A query in a session.
    Query,
    /// A query in a session made for it.
    Fresh,
    /// A query over stateless HTTP.
    Stateless,
    /// Sessions that are made and kept.
    Sessions,
    /// Connections that say nothing.
    Idle,
    /// Bodies that are announced and do not come.
    Announced,
    /// Messages of empty fragments.
    Fragments,
    /// Large answers that nobody takes.
    Unread,
    /// Large messages that are not JSON.
    Messages,
}

pub struct Kind {
    pub name: &'static str,
    pub attack: Attack,
    pub query: String,
}

/// All kinds.
pub fn kinds() -> Vec<Kind> {
    let long = "printf('%.*c', 30000, 'a')";
    let doubled = |levels: usize, call: &str| {
        let mut query = format!("select {long} as a");
        for _ in 0..levels {
            query = format!("select {} as a from ({query})", call.replace('?', "a"));
        }
        format!("{query} where 1")
    };
    let endless = "with recursive t(x) as (select 1 union all select x + 1 from t)";
    let query = |name, query: String| Kind {
        name,
        attack: Attack::Query,
        query,
    };
    let other = |name, attack, query: &str| Kind {
        name,
        attack,
        query: query.to_owned(),
    };
    let memory = "with recursive t(x, y) as (select 1, printf('%.*c', 30000, 'x') union \
        select x + 1, y from t) select count(*) from t where 1";
    let count = format!("{endless} select max(x) as m from t where 1");
    vec![
        query("endless", count.clone()),
        query(
            "like",
            format!(
                "with recursive t(x) as (select 1 union all select x + 1 from t) \
                 select count(*) from t where {long} like '%{}b'",
                "a_".repeat(120)
            ),
        ),
        query(
            "nested like",
            doubled(
                11,
                &format!("(? like '%{}b') || (? like '%{0}c') || ?", "a_".repeat(60)),
            ),
        ),
        query(
            "glob",
            format!(
                "select {} where 1",
                vec![format!("{long} glob '*{}b'", "a?".repeat(100)); 20].join(" + ")
            ),
        ),
        query("json_patch", {
            let object = "(with recursive t(x) as (select 1 union all select x+1 from t limit 3000) \
                          select json_group_object('k' || x, x) from t)";
            format!("{endless} select count(json_patch({object}, {object})) from t where 1")
        }),
        query(
            "json",
            doubled(10, "json('[' || json_quote(?) || ']') || substr(?, 1, 9)"),
        ),
        query(
            "json_tree",
                "select count(*) from json_tree('[' || replace(hex(zeroblob(5000)), '0', '1,') || '1]') a, \
             json_tree('[' || replace(hex(zeroblob(5000)), '0', '1,') || '1]') b where 1"
            .to_owned(),
        ),
        query("printf", {
            let format = "replace(hex(zeroblob(1000)), '0', '%.9000f')";
            format!("{endless} select count(printf({format})) from t where 1")
        }),
        query(
            "strftime",
            doubled(
                10,
                "strftime(replace(substr(?, 1, 5000), 'a', '%J%f'), 'now') || ?",
            ),
        ),
        query("nested calls", doubled(11, "upper(lower(?)) || hex(?)")),
        query("nested expressions", {
            let mut query = "select 1 as a".to_owned();
            for _ in 0..40 {
                query = format!("select a+a as a from ({query})");
            }
            format!("{query} where 1")
        }),
        query(
            "sort",
            format!("{endless} select x from t where 1 order by random() limit 1"),
        ),
        query(
            "sort by nocase",
            format!(
                "with recursive t(x, y) as (select 1, {long} union all select x + 1, y from t) \
             select x from t where 1 order by y || x collate nocase limit 1"
            ),
        ),
        query(
            "join",
            "select count(*) from data a, data b, data c, data d, data e, data f, data g, \
               data h, data i, data j where 1"
                .to_owned(),
        ),
        query("memory", memory.to_owned()),
        query(
            "long results",
            "with recursive t(x) as (select 1 union all select x + 1 from t limit 15) \
               select x, printf('%.*c', 30000, 'x') as y from t where 1"
                .to_owned(),
        ),
        query(
            "many statements",
            format!("select {} where 1 /* # */", vec!["abs(1)"; 300].join(", ")),
        ),
        query(
            "just under a budget",
            "with recursive t(x) as (select 1 union all select x + 1 from t \
               limit 7000) select max(x) as m from t where 1"
                .to_owned(),
        ),
        other("fresh sessions", Attack::Fresh, &count),
        other("stateless HTTP", Attack::Stateless, &count),
        other("sessions kept", Attack::Sessions, ""),
        other("idle connections", Attack::Idle, ""),
        other("announced bodies", Attack::Announced, ""),
        other("empty fragments", Attack::Fragments, ""),
        other(
            "unread answers",
            Attack::Unread,
            "with recursive t(x) as (select 1 union all select \
               x + 1 from t limit 15) select x, printf('%.*c', 30000, 'x') as y from t where 1",
        ),
        other("large messages", Attack::Messages, ""),
    ]
}
