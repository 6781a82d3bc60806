package structured

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/clichain/clichain/call"
)

// knownType returns the schema of a known type that implements its own JSON decoding, nil for other types.
func knownType(t reflect.Type) *typeSchema {
	switch t {
	case reflect.TypeFor[time.Time]():
		return &typeSchema{Types: types{"string"}, Format: "date-time"}
	case reflect.TypeFor[json.Number]():
		return &typeSchema{Types: types{"number"}}
	case reflect.TypeFor[json.RawMessage]():
		return &typeSchema{}
	case reflect.TypeFor[[]byte]():
		return &typeSchema{Types: types{"string"}, ContentEncoding: "base64"}
	}
	return nil
}

// OfType returns the JSON Schema of the JSON that encoding/json can decode into a type. The error names the part of the
// type that it cannot describe.
func OfType(t reflect.Type) (json.RawMessage, *call.Error) {
	schema, err := make(typeStack).schema(t)
	if err != nil {
		return nil, call.Errorf(call.ReasonBadOption, "schema",
			"cannot derive a JSON Schema from %s: %v: set Request.Schema", t, err)
	}
	if slices.Contains(schema.Types, "array") && t.Kind() == reflect.Slice { // an answer must not be null
		schema.Types = types{"array"}
	}
	text, err := json.Marshal(schema)
	if err != nil {
		return nil, call.Errorf(call.ReasonBadOption, "schema", "cannot derive a JSON Schema from %s: %v", t, err)
	}
	return text, nil
}

// typeStack holds the types that enclose the current one while it derives the schema of a type.
type typeStack map[reflect.Type]bool

func (w typeStack) schema(t reflect.Type) (*typeSchema, error) {
	reads := func(i reflect.Type) bool { return t.Kind() != reflect.Interface && reflect.PointerTo(t).Implements(i) }
	switch known := knownType(t); {
	case known != nil:
		return known, nil
	case t.Kind() == reflect.Pointer:
		s, err := w.schema(t.Elem())
		if err == nil {
			orNull(s)
		}
		return s, err
	case w[t]:
		return nil, fmt.Errorf("%s contains itself", t)
	case reads(reflect.TypeFor[json.Unmarshaler]()):
		return nil, fmt.Errorf("%s has its own UnmarshalJSON", t)
	case reads(reflect.TypeFor[encoding.TextUnmarshaler]()):
		return &typeSchema{Types: types{"string"}}, nil
	case t.Kind() == reflect.Interface && t.NumMethod() > 0:
		return nil, fmt.Errorf("JSON cannot be decoded into the interface %s", t)
	}
	w[t] = true
	defer delete(w, t)
	return w.inside(t)
}

// inside returns the schema of a type without its own JSON decoding.
func (w typeStack) inside(t reflect.Type) (s *typeSchema, err error) {
	s = new(typeSchema)
	switch t.Kind() {
	case reflect.Slice:
		s.Types = types{"null", "array"}
		s.Items, err = w.schema(t.Elem())
	case reflect.Array:
		s.Types, s.MinItems, s.MaxItems = types{"array"}, new(t.Len()), new(t.Len())
		s.Items, err = w.schema(t.Elem())
	case reflect.Map:
		if t.Key().Kind() != reflect.String && !t.Key().Implements(reflect.TypeFor[encoding.TextMarshaler]()) {
			return nil, fmt.Errorf("the keys of %s are not strings", t)
		}
		s.Types = types{"object"}
		s.AdditionalProperties, err = w.schema(t.Elem())
	case reflect.Struct:
		s.Types, s.Properties, s.AdditionalProperties = types{"object"}, &members{}, false
		err = w.fields(s, t)
	case reflect.Interface: // accepts any value
	default:
		err = s.scalar(t)
	}
	return s, err
}

// fields adds the fields of a struct, including those of embedded structs.
func (w typeStack) fields(s *typeSchema, t reflect.Type) error {
	var closed []int // embedded fields whose own fields the struct does not have
	for _, field := range reflect.VisibleFields(t) {
		if within(field.Index, closed) {
			continue
		}
		tag := field.Tag.Get("json")
		name, options, _ := strings.Cut(tag, ",")
		if field.Anonymous {
			if name == "" && structIn(field.Type) {
				continue // the loop reaches its fields next
			}
			closed = field.Index
		}
		if !field.IsExported() || tag == "-" {
			continue
		}
		settings := strings.Split(options, ",")
		if slices.Contains(settings, "string") {
			return fmt.Errorf("the option \"string\" of field %s is unknown", field.Name)
		}
		property, err := w.schema(field.Type)
		if err == nil {
			err = annotate(property, field)
		}
		if err != nil {
			return err
		}
		if name == "" {
			name = field.Name
		}
		s.Required = slices.DeleteFunc(s.Required, func(other string) bool { return other == name })
		s.Properties.set(name, property)
		if !slices.Contains(settings, "omitempty") && !slices.Contains(settings, "omitzero") {
			s.Required = append(s.Required, name)
		}
	}
	return nil
}

// within reports whether a field is one of the fields of the embedded field.
func within(index, embedded []int) bool {
	return embedded != nil && len(index) > len(embedded) && slices.Equal(index[:len(embedded)], embedded)
}

func structIn(t reflect.Type) bool {
	return t.Kind() == reflect.Struct || t.Kind() == reflect.Pointer && t.Elem().Kind() == reflect.Struct
}

// orNull makes a schema accept null too.
func orNull(s *typeSchema) {
	if s.Types != nil && !slices.Contains(s.Types, "null") {
		s.Types = append(types{"null"}, s.Types...)
	}
}
