// Package structured checks answers against JSON Schemas, and makes schemas of
// Go types. It knows no CLI and no chain, and loads nothing from files or the
// network.
package structured

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/internal/jsontext"
	"github.com/clichain/clichain/internal/plaintext"
)

const (
	maxSchema     = 1 << 20 // bytes of Request.Schema
	maxMismatches = 10      // that the model is told of
	maxInSchema   = 3       // mistakes in a schema that its author is told of
)

// MaxFindings is how many findings of one check a Checker lists at most.
const MaxFindings = 1000

// Checker holds values against one schema. It is not safe for concurrent use.
type Checker interface {
	// Check lists what does not match, one line each, with its place in the value. size is the
	// length of the value as text. The error says why the check ended early.
	Check(value any, size int) (findings []string, err error)
}

// full compiles the schemas that the basic checker refuses. It is nil without fullschema.
var full func(document any) (checker Checker, problem string)

// UseFull registers the compiler of the schemas that the basic checker refuses. Call it in an
// init function: it is not safe for use beside any other function of this package. The problem
// is one line that says why compile refuses the schema, or empty.
func UseFull(compile func(document any) (checker Checker, problem string)) { full = compile }

// Schema is a Request.Schema that was checked and compiled. It counts the steps
// of a check, so it is not safe for concurrent use: compile one for each call.
type Schema struct{ checker Checker }

// Compile finds the mistakes in a schema before anything starts. The result is
// nil for an empty schema. A reference that leads out of the schema is an error.
func Compile(raw json.RawMessage) (*Schema, *call.Error) {
	if len(raw) == 0 {
		return nil, nil
	}
	if len(raw) > maxSchema {
		return nil, call.Errorf(call.ReasonBadOption, "schema", "has %d bytes: at most %d are taken", len(raw), maxSchema)
	}
	if problem := plaintext.Problem(string(raw)); problem != "" {
		return nil, call.Errorf(call.ReasonBadRequest, "schema", "%s", problem)
	}
	document, err := jsontext.Strict(string(raw))
	switch {
	case err != nil && !json.Valid(raw): // in the words of compose.Check
		return nil, call.Errorf(call.ReasonBadOption, "schema", "is no valid JSON")
	case err != nil:
		return nil, call.Errorf(call.ReasonBadOption, "schema", "%s", err)
	}
	object, ok := document.(map[string]any)
	if !ok {
		return nil, call.Errorf(call.ReasonBadOption, "schema", "must be a JSON object: use {} for an answer of any JSON")
	}
	checker, problem := compile(object)
	if problem != "" {
		return nil, call.Errorf(call.ReasonBadOption, "schema", "%s", problem)
	}
	return &Schema{checker}, nil
}

// compile tries the basic checker first, and then the full checker if it is linked.
func compile(document map[string]any) (checker Checker, problem string) {
	root, refused := read(document)
	switch {
	case refused == nil:
		return &basic{root: root}, ""
	case full != nil:
		return full(document)
	}
	return nil, refused.Error()
}

// Accept returns the JSON in an answer, as it was written, or the problem that
// keeps it from being valid, one mismatch a line.
func (s *Schema) Accept(text string) (document, problem string) {
	document, err := jsontext.Sole(text)
	if err != nil {
		return "", err.Error()
	}
	value, err := jsontext.Strict(document)
	if err != nil {
		return "", err.Error()
	}
	findings, err := s.checker.Check(value, len(document))
	switch {
	case err != nil:
		return "", err.Error()
	case len(findings) > 0:
		return "", List(findings, maxMismatches)
	}
	return document, ""
}

// List joins findings, sorted, one a line, and says how many more there are.
func List(findings []string, most int) string {
	slices.Sort(findings)
	findings = slices.Compact(findings)
	if more := len(findings) - most; more > 0 {
		findings = append(findings[:most], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(findings, "\n")
}

// Invalid says what is wrong with a schema, in one line.
func Invalid(findings []string) string {
	return "is no valid JSON Schema: " + plaintext.OneLine(List(findings, maxInSchema))
}
