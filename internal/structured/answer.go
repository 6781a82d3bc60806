// Package structured validates answers against JSON Schemas, and derives schemas from Go types. It depends on no CLI
// and no chain, and reads neither files nor the network.
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
	maxMismatches = 10      // reported to the model
	maxInSchema   = 3       // mistakes in a schema that are reported to its author
)

// MaxFindings is the maximum number of findings that a Checker lists for one value.
const MaxFindings = 1000

// Checker validates values against one schema. It is not safe for concurrent use.
type Checker interface {
	// Check lists each mismatch on one line with its place in the value. size is the length of the value as text. The
	// error is the reason why the check ended early.
	Check(value any, size int) (findings []string, err error)
}

// full compiles the schemas that the basic checker refuses. It is nil unless the program imports fullschema.
var full func(document any) (checker Checker, problem string)

// UseFull registers the compiler for the schemas that the basic checker refuses. Call it in an init function: it must
// not run concurrently with other functions of this package. problem is one line with the reason why compile refuses
// the schema, or empty.
func UseFull(compile func(document any) (checker Checker, problem string)) { full = compile }

// Schema is a compiled Request.Schema. It counts the steps of a check, so it is not safe for concurrent use. Compile
// one for each call.
type Schema struct{ checker Checker }

// Compile validates and compiles a schema. The result is nil for an empty schema. A reference to another document is an
// error.
func Compile(raw json.RawMessage) (*Schema, *call.Error) {
	if len(raw) == 0 {
		return nil, nil
	}
	if len(raw) > maxSchema {
		return nil, call.Errorf(call.ReasonBadOption, "schema", "has %d bytes: the maximum is %d", len(raw), maxSchema)
	}
	if problem := plaintext.Problem(string(raw)); problem != "" {
		return nil, call.Errorf(call.ReasonBadRequest, "schema", "%s", problem)
	}
	document, err := jsontext.Strict(string(raw))
	switch {
	case err != nil && !json.Valid(raw): // the message equals that of compose.Check
		return nil, call.Errorf(call.ReasonBadOption, "schema", "is not valid JSON")
	case err != nil:
		return nil, call.Errorf(call.ReasonBadOption, "schema", "%s", err)
	}
	object, ok := document.(map[string]any)
	if !ok {
		return nil, call.Errorf(call.ReasonBadOption, "schema",
			"must be a JSON object: use {} to accept any JSON value")
	}
	checker, problem := compile(object)
	if problem != "" {
		return nil, call.Errorf(call.ReasonBadOption, "schema", "%s", problem)
	}
	return &Schema{checker}, nil
}

// compile tries the basic checker first, then the full checker if the program imports it.
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

// Accept returns the JSON in an answer as written, or the mismatches, one on each line.
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

// List joins the sorted findings, one on each line, and counts those beyond the maximum.
func List(findings []string, most int) string {
	slices.Sort(findings)
	findings = slices.Compact(findings)
	if more := len(findings) - most; more > 0 {
		findings = append(findings[:most], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(findings, "\n")
}

// Invalid returns the error text, one line, for an invalid schema.
func Invalid(findings []string) string {
	return "is not a valid JSON Schema: " + plaintext.OneLine(List(findings, maxInSchema))
}
