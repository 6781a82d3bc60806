package request

import (
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/clichain/clichain/openai/internal/apierror"
)

// field is how the server treats a field of a request. The zero value is a field that it supports.
type field struct {
	refused  string   // why the server does not support it; empty: it does
	neutral  []string // the JSON values with the meaning of a missing field, besides null
	inert    bool     // the field never has an effect on an answer
	reported bool     // the server ignores the field and reports it, unless it is strict
}

// fields are the fields of a JSON object by name. The server refuses other names.
type fields map[string]field

func refused(why string, neutral ...string) field { return field{refused: why, neutral: neutral} }

// unsupported is a field that does not change the meaning of a request, such as how a model samples its tokens.
func unsupported(neutral ...string) field {
	return field{refused: "CLIs take no such setting", neutral: neutral, reported: true}
}

var inert = field{inert: true}

const (
	noTools = "a CLI that is asked here has no access to anything, and uses no tools; " +
		"docs/how-to/serve.md explains why a client cannot add its own"
	noMedia  = "text comes back, and nothing else"
	oneText  = "a CLI gives one answer, as text"
	noMemory = "the server keeps no requests, prompts and files"
)

// object is a JSON object of a request.
type object struct {
	at     string // its path; empty: the request itself
	fields fields
	policy *Policy
}

// read reads the object, and refuses fields that the server does not support.
func (o object) read(data []byte, into any) *apierror.Error {
	var parts map[string]json.RawMessage
	if err := json.Unmarshal(data, &parts); err != nil {
		return o.malformed(err)
	}
	for _, name := range slices.Sorted(maps.Keys(parts)) {
		if err := o.check(name, parts[name]); err != nil {
			return err
		}
	}
	if err := json.Unmarshal(data, into); err != nil {
		return o.malformed(err)
	}
	return nil
}

func (o object) check(name string, value json.RawMessage) *apierror.Error {
	f, known := o.fields[name]
	switch {
	case !known:
		return apierror.Field(o.path(name), "unknown_parameter", "there is no such field here")
	case f.refused == "", f.inert, f.neutralAt(value):
		return nil
	case f.reported && !o.policy.Strict:
		o.policy.ignore(o.path(name))
		return nil
	}
	advice := "leave it out"
	if len(f.neutral) > 0 {
		advice += ", or let it be " + strings.Join(f.neutral, " or ")
	}
	if f.reported {
		advice += "; without " + o.policy.Setting + " it is ignored"
	}
	return apierror.Field(o.path(name), "unsupported_parameter", "%s: %s", f.refused, advice)
}

// maxNeutral is longer than every neutral value. Longer values are not parsed.
const maxNeutral = 64

// neutralAt reports whether a value has the meaning of a missing field.
func (f field) neutralAt(value json.RawMessage) bool {
	if len(value) > maxNeutral {
		return false
	}
	canonical := canonicalJSON(value)
	return canonical == "null" || slices.Contains(f.neutral, canonical)
}

// canonicalJSON returns the same text for equal values, such as 1 and 1.0.
func canonicalJSON(value json.RawMessage) string {
	var decoded any
	_ = json.Unmarshal(value, &decoded) // it is valid JSON
	text, _ := json.Marshal(decoded)
	return string(text)
}

func (o object) path(name string) string {
	return strings.TrimPrefix(o.at+"."+name, ".")
}

// malformed returns the error of JSON with unexpected types.
func (o object) malformed(err error) *apierror.Error {
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && wrong.Field != "" {
		return apierror.Field(o.path(wrong.Field), "invalid_type", "it is a JSON %s, which has no place there", wrong.Value)
	}
	if o.at == "" {
		return apierror.Invalid(http.StatusBadRequest, "", "invalid_json", "the body is no JSON object: %v", err)
	}
	return apierror.Field(o.at, "invalid_type", "it is no JSON object: %v", err)
}
