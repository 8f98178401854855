//! The tools' names, descriptions and argument schemas.

use serde_json::{Map, Value, json};

use super::{FailureKind, ToolFailure};

/// The tool that ends an episode.
pub const SUBMIT_ANSWER: &str = "submit_answer";

/// One argument of a tool; all are strings and all are required.
#[derive(Debug)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// What it is.
    pub description: &'static str,
}

/// One tool as it is announced.
#[derive(Debug)]
pub struct ToolSpec {
    /// Its name.
    pub name: &'static str,
    /// What it does.
    pub description: &'static str,
    /// Its arguments in order.
    pub parameters: &'static [Parameter],
}

const COMPANY: Parameter = Parameter {
    name: "company_name",
    description: "The name of the company",
};
const TABLE: Parameter = Parameter {
    name: "table_name",
    description: "The name of the table",
};

static SPECS: [ToolSpec; 4] = [
    ToolSpec {
        name: "get_descriptions",
        description: "Get a list of available table names for a company.",
        parameters: &[COMPANY],
    },
    ToolSpec {
        name: "get_table_info",
        description: "Get table metadata: description, columns, types, unique values.",
        parameters: &[COMPANY, TABLE],
    },
    ToolSpec {
        name: "sql_query",
        description: "Execute a SQL query on a table. Select * not allowed.\n\n\
            Filters are required: WHERE, HAVING, IN, NOT IN, EXISTS, NOT EXISTS,\n\
            ANY, SOME, ALL, LIKE, NOT LIKE, BETWEEN, NOT BETWEEN, IS NULL,\n\
            IS NOT NULL, CASE, FILTER.",
        parameters: &[
            COMPANY,
            TABLE,
            Parameter {
                name: "query",
                description: "SQL query to execute (must include filters)",
            },
        ],
    },
    ToolSpec {
        name: SUBMIT_ANSWER,
        description: "Submit a final answer for the question.",
        parameters: &[Parameter {
            name: "answer",
            description: "The final answer to submit",
        }],
    },
];

/// The four tools in the order in which they are announced.
#[must_use]
pub fn specs() -> &'static [ToolSpec] {
    &SPECS
}

impl ToolSpec {
    /// The JSON schema of its arguments.
    #[must_use]
    pub fn input_schema(&self) -> Value {
        let properties: Map<String, Value> = self
            .parameters
            .iter()
            .map(|p| {
                let schema = json!({"type": "string", "description": p.description});
                (p.name.to_owned(), schema)
            })
            .collect();
        let required: Vec<&str> = self.parameters.iter().map(|p| p.name).collect();
        json!({
            "additionalProperties": false,
            "properties": properties,
            "required": required,
            "type": "object",
        })
    }

    /// The arguments in the order of [`ToolSpec::parameters`].
    pub(super) fn read_arguments<'a>(
        &self,
        given: &'a Map<String, Value>,
    ) -> Result<Vec<&'a str>, ToolFailure> {
        self.parameters
            .iter()
            .map(|p| {
                given
                    .get(p.name)
                    .and_then(Value::as_str)
                    .ok_or_else(|| ToolFailure {
                        kind: FailureKind::InvalidArgs,
                        message: format!(
                            "1 validation error for call[{}]\n{}\n  Missing required argument",
                            self.name, p.name
                        ),
                    })
            })
            .collect()
    }
}
