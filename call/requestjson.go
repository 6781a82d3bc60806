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

// UnmarshalJSON reads a request. A field that there is not is a mistake, as is a
// value of another type: an [*Error] with the reason bad_option that names the
// field. Left out in silence, it could have been a limit.
func (r *Request) UnmarshalJSON(data []byte) error {
	type plain Request
	return strictly(data, (*plain)(r), "")
}

// UnmarshalJSON reads options as [Request.UnmarshalJSON] does.
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
	wrong := Errorf(ReasonBadOption, within, "is no valid JSON: %v", err)
	if other, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		wrong = Errorf(ReasonBadOption, strings.Trim(within+"."+other.Field, "."), "has %s where %s must be",
			found(other.Value), wanted(other.Type))
	}
	wrong.Err = err
	return wrong
}

// found is a value as [json.UnmarshalTypeError] describes it, such as "array" or "number 1.5".
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

// wanted is the JSON that a type is read from.
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

// meant is the field of a struct that a misspelt name, or a part of a name, may have meant.
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
