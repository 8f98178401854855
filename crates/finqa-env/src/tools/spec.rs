//! The tools' names, descriptions and argument schemas.

use finqa_core::text::head;
use serde_json::{Map, Value, json};

use super::ToolFailure;

/// The tool that ends an episode.
pub const SUBMIT_ANSWER: &str = "submit_answer";

/// A tool's description for agents.
#[derive(Debug)]
pub struct EnvTool {
    pub name: &'static str,
    pub description: &'static str,
    /// The name and the description of each argument. All arguments are required strings.
    pub parameters: &'static [(&'static str, &'static str)],
}

const COMPANY: (&str, &str) = ("company_name", "The name of the company");
const TABLE: (&str, &str) = ("table_name", "The name of the table");

static SPECS: [EnvTool; 4] = [
    EnvTool {
        name: "get_descriptions",
        description: "Get a list of available table names for a company.",
        parameters: &[COMPANY],
    },
    EnvTool {
        name: "get_table_info",
        description: "Get table metadata: description, columns, types, unique values.",
        parameters: &[COMPANY, TABLE],
    },
    EnvTool {
        name: "sql_query",
        description: "Execute a SQL query on a table. Select * not allowed.\n\n\
            Filters are required: WHERE, HAVING, IN, NOT IN, EXISTS, NOT EXISTS,\n\
            ANY, SOME, ALL, LIKE, NOT LIKE, BETWEEN, NOT BETWEEN, IS NULL,\n\
            IS NOT NULL, CASE, FILTER.",
        parameters: &[
            COMPANY,
            TABLE,
            ("query", "SQL query to execute (must include filters)"),
        ],
    },
    EnvTool {
        name: SUBMIT_ANSWER,
        description: "Submit a final answer for the question.",
        parameters: &[("answer", "The final answer to submit")],
    },
];

/// The four tools, in the order in which clients list them.
pub fn specs() -> &'static [EnvTool] {
    &SPECS
}

impl EnvTool {
    /// The JSON schema of the arguments.
    pub fn input_schema(&self) -> Value {
        let properties: Map<String, Value> = self
            .parameters
            .iter()
            .map(|(name, description)| {
                let schema = json!({"type": "string", "description": description});
                ((*name).to_owned(), schema)
            })
            .collect();
        let required: Vec<&str> = self.parameters.iter().map(|(name, _)| *name).collect();
        json!({
            "additionalProperties": false,
            "properties": properties,
            "required": required,
            "type": "object",
        })
    }

    /// The arguments in the order of [`EnvTool::parameters`]. The error is the first fault.
    pub(super) fn read_arguments<'a>(
        &self,
        given: &'a Map<String, Value>,
    ) -> Result<Vec<&'a str>, ToolFailure> {
        let fault = |text: String| ToolFailure::from_text(format!("{}: {text}", self.name));
        let mut values = Vec::with_capacity(self.parameters.len());
        for (name, _) in self.parameters {
            match given.get(*name) {
                Some(Value::String(text)) => values.push(text.as_str()),
                Some(_) => return Err(fault(format!("{name} should be a valid string"))),
                None => return Err(fault(format!("missing required argument {name}"))),
            }
        }
        let is_known = |name: &str| self.parameters.iter().any(|(known, _)| *known == name);
        match given.keys().find(|name| !is_known(name)) {
            Some(name) => {
                // Cut to a length set by hand, so that the answer does not repeat a long name.
                let name = head(name, 200);
                Err(fault(format!("unexpected keyword argument {name}")))
            }
            None => Ok(values),
        }
    }
}
