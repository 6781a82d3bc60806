// Package structured checks answers against JSON Schemas, and makes schemas of
// Go types. It knows no CLI and no chain, and loads nothing from files or the
// network.
package structured

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/internal/jsontext"
	"github.com/clichain/clichain/internal/plaintext"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

const (
	maxSchema     = 1 << 20 // bytes of Request.Schema
	maxMismatches = 10      // that the model is told of
	maxLeaves     = 1000    // findings that are looked at to list the mismatches
)

// schemaURL names the schema to the validator, which never opens it. With this
// scheme a relative reference does not become a path of this machine.
const schemaURL = "clichain:///schema"

// Schema is a Request.Schema that was checked and compiled. It counts the steps
// of a check, so it is not safe for concurrent use: compile one for each call.
type Schema struct {
	schema   *jsonschema.Schema
	limit    *stepLimit
	patterns *patternLimit
}

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
	if _, ok := document.(map[string]any); !ok {
		return nil, call.Errorf(call.ReasonBadOption, "schema", "must be a JSON object: use {} for an answer of any JSON")
	}
	s := &Schema{limit: new(stepLimit), patterns: &patternLimit{known: map[string]jsonschema.Regexp{}}}
	s.schema, err = s.compile(document)
	if refusal := s.patterns.refusal(document); refusal != "" {
		return nil, call.Errorf(call.ReasonBadOption, "schema", "%s", refusal)
	}
	if err != nil {
		return nil, call.Errorf(call.ReasonBadOption, "schema", "%s", schemaMistake(err))
	}
	return s, nil
}

func (s *Schema) compile(document any) (*jsonschema.Schema, error) {
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.UseLoader(noLoader{})
	c.UseRegexpEngine(s.patterns.compile)
	c.AssertFormat() // otherwise "format" is not checked
	c.RegisterVocabulary(s.limit.vocabulary())
	c.AssertVocabs()
	if err := c.AddResource(schemaURL, document); err != nil {
		return nil, err
	}
	return c.Compile(schemaURL)
}

var errRemote = errors.New("only references inside the schema are followed, nothing is loaded")

// noLoader refuses every reference that leads out of the schema.
type noLoader struct{}

func (noLoader) Load(string) (any, error) { return nil, errRemote }

// schemaMistake says what is wrong with a schema, in one line.
func schemaMistake(err error) string {
	if invalid, ok := errors.AsType[*jsonschema.SchemaValidationError](err); ok {
		if inner, ok := errors.AsType[*jsonschema.ValidationError](invalid.Err); ok {
			return "is no valid JSON Schema: " + plaintext.OneLine(mismatches(inner, 3))
		}
	}
	if load, ok := errors.AsType[*jsonschema.LoadURLError](err); ok {
		return fmt.Sprintf("refers to %q: %v", load.URL, load.Err)
	}
	return "is no valid JSON Schema: " + plaintext.OneLine(err.Error())
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
	s.patterns.reset()
	err = s.limit.guard(len(document), func() error { return s.schema.Validate(value) })
	if mismatch, ok := errors.AsType[*jsonschema.ValidationError](err); ok {
		return "", mismatches(mismatch, maxMismatches)
	}
	if err != nil {
		return "", err.Error()
	}
	return document, ""
}

// mismatches lists place and problem of what does not match, one a line, sorted.
func mismatches(err *jsonschema.ValidationError, most int) string {
	lines := leaves(err, nil)
	slices.Sort(lines)
	lines = slices.Compact(lines)
	if more := len(lines) - most; more > 0 {
		lines = append(lines[:most], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(lines, "\n")
}

// leaves are the findings that have no cause below them.
func leaves(err *jsonschema.ValidationError, lines []string) []string {
	if len(lines) >= maxLeaves {
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

// A recursive schema with alternatives can make checking an answer take time
// exponential in its depth: some hundred bytes would keep a host busy for
// hours. No real pair of schema and answer comes near these bounds.
const (
	stepsBase    = 100_000
	stepsPerByte = 20
)

var errTooManySteps = errors.New("checking it against the schema takes too long")

// stepLimit ends a check that takes too many steps. To the validator it is a
// keyword of every part of a schema, so it is called at each step.
type stepLimit struct{ left int }

func (l *stepLimit) vocabulary() *jsonschema.Vocabulary {
	return &jsonschema.Vocabulary{
		URL:     "clichain:///steps",
		Compile: func(*jsonschema.CompilerContext, map[string]any) (jsonschema.SchemaExt, error) { return l, nil },
	}
}

// Validate counts a step; beyond the limit it panics.
func (l *stepLimit) Validate(*jsonschema.ValidatorContext, any) {
	if l.left--; l.left < 0 {
		panic(errTooManySteps) // nothing else ends the validator; guard recovers it
	}
}

// guard runs a check of a document of that size.
func (l *stepLimit) guard(size int, check func() error) (err error) {
	l.left = stepsBase + stepsPerByte*size
	defer func() {
		if reached := recover(); reached == errTooManySteps {
			err = errTooManySteps
		} else if reached != nil {
			panic(reached)
		}
	}()
	return check()
}
