package call

import (
	"bytes"
	"encoding"
	"encoding/json"
	"errors"
	"reflect"
	"strconv"
	"strings"

	"github.com/clichain/clichain/internal/spelling"
)

// UnmarshalJSON parses a request. An unknown field or a value of the wrong type is an [*Error] with the reason
// bad_option and the name of the field. An unknown field is an error because it could be a misspelled limit.
func (r *Request) UnmarshalJSON(data []byte) error {
	type plain Request
	return strictly(data, (*plain)(r), "")
}

// UnmarshalJSON parses options with the rules of [Request.UnmarshalJSON].
func (o *Options) UnmarshalJSON(data []byte) error {
	type plain Options
	return strictly(data, (*plain)(o), "options")
}

func strictly(data []byte, v any, within string) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	err := d.Decode(v)
	if err == nil {
		return nil
	}
	if known, ok := errors.AsType[*Error](err); ok {
		return known
	}
	if access, ok := errors.AsType[accessError](err); ok {
		return Errorf(ReasonBadOption, "access", "%s", string(access))
	}
	if quoted, unknown := strings.CutPrefix(err.Error(), "json: unknown field "); unknown {
		name, _ := strconv.Unquote(quoted)
		return Errorf(ReasonBadOption, strings.TrimPrefix(within+"."+name, "."), "there is no such field%s",
			meant(name, reflect.TypeOf(v).Elem()))
	}
	wrong := Errorf(ReasonBadOption, within, "is not valid JSON: %v", err)
	if other, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		wrong = Errorf(ReasonBadOption, strings.Trim(within+"."+other.Field, "."), "must be %s, not %s",
			wanted(other.Type), found(other.Value))
	}
	wrong.Err = err
	return wrong
}

// found describes a value of [json.UnmarshalTypeError], such as "array" or "number 1.5".
func found(value string) string {
	switch {
	case value == "bool":
		return "a boolean"
	case value == "array", value == "object":
		return "an " + value
	case strings.HasPrefix(value, "number "):
		return "the " + value
	}
	return "a " + value
}

// wanted describes the JSON value of a type.
func wanted(t reflect.Type) string {
	if reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()) {
		return "a string"
	}
	switch t.Kind() {
	case reflect.Bool:
		return "a boolean"
	case reflect.Int, reflect.Int64:
		return "an integer"
	case reflect.Float64:
		return "a number"
	case reflect.Slice:
		return "an array"
	case reflect.Struct, reflect.Map:
		return "an object"
	}
	return "a string"
}

// meant suggests fields of a struct for a misspelled or abbreviated name.
func meant(name string, of reflect.Type) string {
	name = strings.ToLower(strings.ReplaceAll(name, "-", "_"))
	var names, with []string
	for i := range of.NumField() {
		field, _, _ := strings.Cut(of.Field(i).Tag.Get("json"), ",")
		names = append(names, field)
		if len(name) > 2 && strings.Contains(field, name) {
			with = append(with, field)
		}
	}
	if near := spelling.Near(name, names); near != "" {
		with = []string{near}
	}
	if len(with) == 0 {
		return ""
	}
	return ": did you mean " + strings.Join(with, " or ") + "?"
}
