package clichain

import (
	"encoding/json"
	"reflect"
)

// CompileSchema is compileSchema.
func CompileSchema(raw json.RawMessage) (*answerSchema, *BackendError) { return compileSchema(raw) }

// SchemaOf is schemaOf.
func SchemaOf(t reflect.Type) (json.RawMessage, *BackendError) { return schemaOf(t) }

// MaxSchema is maxSchema.
const MaxSchema = maxSchema
