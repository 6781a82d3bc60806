package structured

import (
	"encoding/json"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/internal/jsontext"
)

// These names give the external tests access to internals.
const (
	MaxSchema  = maxSchema
	MetaSchema = metaSchema
)

var (
	Beyond        = beyond
	BeyondFormats = beyondFormats
	StepsOf       = stepsOf
)

// CompileBasic is Compile in a program that does not import fullschema.
func CompileBasic(raw json.RawMessage) (*Schema, *call.Error) {
	linked := full
	full = nil
	defer func() { full = linked }()
	return Compile(raw)
}

// CompileFull compiles a schema with the full checker.
func CompileFull(raw string) (*Schema, string) {
	document, err := jsontext.Strict(raw)
	if err != nil {
		panic(err)
	}
	checker, problem := full(document)
	return &Schema{checker}, problem
}

// IsBasic reports whether the basic checker accepted the schema.
func IsBasic(s *Schema) bool {
	_, ok := s.checker.(*basic)
	return ok
}

// Findings returns all findings of a schema for a value.
func Findings(s *Schema, text string) ([]string, error) {
	value, err := jsontext.Strict(text)
	if err != nil {
		panic(err)
	}
	return s.checker.Check(value, len(text))
}
