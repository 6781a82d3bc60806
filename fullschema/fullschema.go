// Package fullschema makes clichain check answers against any JSON Schema of draft 4, 6, 7, 2019-09 or 2020-12.
// Import it for that alone:
//
//	import _ "github.com/clichain/clichain/fullschema"
//
// Without it a program takes schemas of the keywords that docs/how-to/structured.md lists, which include all that
// [clichain.CompleteAs] needs. A request with another schema is refused as bad_option before anything starts. A program
// that links the package starts some milliseconds later. The command clichain links it.
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

// schemaURL names the schema to the validator, which never opens it. With this
// scheme a relative reference does not become a path of this machine.
const schemaURL = "clichain:///schema"

// checker holds values against a schema of any draft.
type checker struct {
	schema   *jsonschema.Schema
	chain    int // the longest chain of schemas that apply to one value
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
	compiler.AssertFormat() // otherwise "format" is not checked
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

// step is a keyword of every part of a schema, so the validator calls it at each step.
type step struct{ steps *structured.Steps }

// Validate counts a step.
func (s step) Validate(*jsonschema.ValidatorContext, any) { s.steps.Take() }

var errRemote = errors.New("only references inside the schema are followed, nothing is loaded")

// noLoader refuses every reference that leads out of the schema.
type noLoader struct{}

// Load refuses.
func (noLoader) Load(string) (any, error) { return nil, errRemote }

// schemaMistake says what is wrong with a schema, in one line.
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

// leaves are the findings that have no cause below them.
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
