// Package fullschema lets clichain validate answers against any JSON Schema of draft 4, 6, 7, 2019-09 or 2020-12.
// Import it for its side effect:
//
//	import _ "github.com/clichain/clichain/fullschema"
//
// Without it, a program supports schemas with the keywords that docs/reference/schemas.md lists, which include all that
// [clichain.CompleteAs] needs. A request with another schema fails as bad_option before a CLI starts. The package adds
// some milliseconds to the start of a program. The command clichain imports it.
//
// [clichain.CompleteAs]: https://pkg.go.dev/github.com/clichain/clichain#CompleteAs
package fullschema

import (
	"errors"
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/clichain/clichain/internal/plaintext"
	"github.com/clichain/clichain/internal/structured"
)

func init() { structured.UseFull(compile) }

// schemaURL is the name of the schema for the validator, which never opens it. With this scheme, a relative reference
// is not a path of this machine.
const schemaURL = "clichain:///schema"

// checker validates values against a schema of any draft.
type checker struct {
	schema   *jsonschema.Schema
	chain    int // longest chain of schemas that apply to one value
	steps    structured.Steps
	patterns structured.Patterns
}

func compile(document any) (structured.Checker, string) {
	c := new(checker)
	schema, err := c.compile(document)
	if refusal := c.patterns.Refusal(document); refusal != "" {
		return nil, refusal
	}
	if err != nil {
		return nil, schemaMistake(err)
	}
	c.schema, c.chain = schema, chainOf(schema)
	return c, ""
}

func (c *checker) compile(document any) (*jsonschema.Schema, error) {
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	compiler.UseLoader(noLoader{})
	compiler.UseRegexpEngine(func(pattern string) (jsonschema.Regexp, error) {
		re, err := c.patterns.Compile(pattern)
		if err != nil {
			return nil, err
		}
		return re, nil
	})
	compiler.AssertFormat() // without this call, the validator ignores "format"
	compiler.RegisterVocabulary(&jsonschema.Vocabulary{
		URL: "clichain:///steps",
		Compile: func(*jsonschema.CompilerContext, map[string]any) (jsonschema.SchemaExt, error) {
			return step{&c.steps}, nil
		},
	})
	compiler.AssertVocabs()
	if err := compiler.AddResource(schemaURL, document); err != nil {
		return nil, err
	}
	return compiler.Compile(schemaURL)
}

// step is a keyword that exists in every part of a schema, so that the validator calls it at each step.
type step struct{ steps *structured.Steps }

// Validate counts a step.
func (s step) Validate(*jsonschema.ValidatorContext, any) { s.steps.Take() }

var errRemote = errors.New("only references inside the schema are supported")

// noLoader refuses references to other documents.
type noLoader struct{}

// Load returns an error for every reference.
func (noLoader) Load(string) (any, error) { return nil, errRemote }

// schemaMistake returns the error text, one line, for an invalid schema.
func schemaMistake(err error) string {
	if invalid, ok := errors.AsType[*jsonschema.SchemaValidationError](err); ok {
		if inner, ok := errors.AsType[*jsonschema.ValidationError](invalid.Err); ok {
			return structured.Invalid(leaves(inner, nil))
		}
	}
	if load, ok := errors.AsType[*jsonschema.LoadURLError](err); ok {
		return fmt.Sprintf("refers to %q: %v", load.URL, load.Err)
	}
	return "is not a valid JSON Schema: " + plaintext.OneLine(err.Error())
}

// Check implements structured.Checker.
func (c *checker) Check(value any, size int) (findings []string, err error) {
	if c.chain*depthOf(value) > maxLevels {
		return nil, structured.ErrTooManySteps
	}
	c.patterns.Reset()
	var mismatch error
	if err := c.steps.Guard(size, func() { mismatch = c.schema.Validate(value) }); err != nil {
		return nil, err
	}
	if invalid, ok := errors.AsType[*jsonschema.ValidationError](mismatch); ok {
		return leaves(invalid, nil), nil
	}
	return nil, mismatch
}

// leaves returns the findings that have no cause below them.
func leaves(err *jsonschema.ValidationError, lines []string) []string {
	if len(lines) >= structured.MaxFindings {
		return lines
	}
	for _, cause := range err.Causes {
		lines = leaves(cause, lines)
	}
	if len(err.Causes) == 0 {
		lines = append(lines, plaintext.OneLine(strings.Replace(err.Error(), "at '': ", "at the top: ", 1)))
	}
	return lines
}
