//! Checks JSON values against schemas by a public validator. Tests of other packages include this
//! file.

use boon::{Compiler, SchemaIndex, Schemas};
use serde_json::Value;

pub struct Schema {
    schemas: Schemas,
    index: SchemaIndex,
}

impl Schema {
    /// Fails the test if the schema itself is wrong.
    pub fn new(schema: &Value) -> Self {
        let (mut schemas, mut compiler) = (Schemas::new(), Compiler::new());
        let place = "http://localhost/schema.json";
        compiler.add_resource(place, schema.clone()).unwrap();
        let index = compiler
            .compile(place, &mut schemas)
            .unwrap_or_else(|error| panic!("{error:#}"));
        Self { schemas, index }
    }

    pub fn is_valid(&self, value: &Value) -> bool {
        self.schemas.validate(value, self.index).is_ok()
    }

    /// Fails the test if the value is not valid.
    pub fn accepts(&self, value: &Value) {
        if let Err(error) = self.schemas.validate(value, self.index) {
            panic!("{error:#}\n{value}");
        }
    }
}
