package openai

import (
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// field says what becomes of a field of a request. The zero value is one that is honoured.
type field struct {
	refused string   // why it cannot be honoured; empty: it can
	neutral []string // the JSON values that ask for nothing, beside null
	ignored bool     // it has no part in the answer, whatever it says
	may     bool     // whoever serves may have it ignored
}

// fields are those of a JSON object, by name. A name that is missing is unknown, and refused.
type fields map[string]field

func no(why string, neutral ...string) field { return field{refused: why, neutral: neutral} }

// sampling is a field that would change how a model chooses its words, or how many.
func sampling(neutral ...string) field {
	return field{refused: "CLIs take no such setting", neutral: neutral, may: true}
}

var ignored = field{ignored: true}

const (
	noTools  = "a CLI that is asked here has no access to anything, and uses no tools"
	noMedia  = "text comes back, and nothing else"
	oneText  = "a CLI gives one answer, as text"
	noMemory = "nothing is kept between requests"
)

// IgnorableFields are the names of the fields that [Config.IgnoredFields] may have.
func IgnorableFields() []string {
	names := map[string]bool{}
	for _, list := range []fields{chatFields, responsesFields} {
		for name, f := range list {
			if f.may {
				names[name] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// object is a JSON object of a request: where it is, what may be in it, and which fields have no effect.
type object struct {
	at     string // empty: the request itself
	fields fields
	ignore []string
}

// read refuses what cannot be honoured, and reads the rest.
func (o object) read(data []byte, into any) *apiError {
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

func (o object) check(name string, value json.RawMessage) *apiError {
	f, known := o.fields[name]
	switch {
	case !known:
		return refusal(o.path(name), "unknown_parameter", "there is no such field here")
	case f.refused == "", f.ignored, f.neutralAt(value):
		return nil
	case f.may && slices.Contains(o.ignore, name):
		return nil
	}
	advice := "leave it out"
	if len(f.neutral) > 0 {
		advice += ", or let it be " + strings.Join(f.neutral, " or ")
	}
	if f.may {
		advice += "; clichain serve --ignore " + name + " has it ignored"
	}
	return refusal(o.path(name), "unsupported_parameter", "%s: %s", f.refused, advice)
}

// maxNeutral is more than the bytes of any value that asks for nothing. A longer one is not read.
const maxNeutral = 64

// neutralAt reports whether a value asks for nothing.
func (f field) neutralAt(value json.RawMessage) bool {
	if len(value) > maxNeutral {
		return false
	}
	asks := plain(value)
	return asks == "null" || slices.Contains(f.neutral, asks)
}

// plain is a JSON value without what says the same in another way, such as the fraction of 1.0.
func plain(value json.RawMessage) string {
	var read any
	_ = json.Unmarshal(value, &read) // it was read before
	text, _ := json.Marshal(read)
	return string(text)
}

func (o object) path(name string) string {
	return strings.TrimPrefix(o.at+"."+name, ".")
}

// malformed is the error of JSON that has another shape.
func (o object) malformed(err error) *apiError {
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && wrong.Field != "" {
		return refusal(o.path(wrong.Field), "invalid_type", "it is a JSON %s, which has no place there", wrong.Value)
	}
	if o.at == "" {
		return mistake(http.StatusBadRequest, "", "invalid_json", "the body is no JSON object: %v", err)
	}
	return refusal(o.at, "invalid_type", "it is no JSON object: %v", err)
}
