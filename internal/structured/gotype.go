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

// knownType is the schema of what a type takes that reads itself from JSON, if it is one of those that are known.
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

// OfType makes the JSON Schema of what encoding/json reads into a type. The error
// says which part of the type it cannot describe.
func OfType(t reflect.Type) (json.RawMessage, *call.Error) {
	schema, err := make(typeWalk).schema(t)
	if err != nil {
		return nil, call.Errorf(call.ReasonBadOption, "schema",
			"no JSON Schema can be made of %s: %v: give Request.Schema", t, err)
	}
	if slices.Contains(schema.Types, "array") && t.Kind() == reflect.Slice { // an answer must not be null
		schema.Types = types{"array"}
	}
	text, err := json.Marshal(schema)
	if err != nil {
		return nil, call.Errorf(call.ReasonBadOption, "schema", "no JSON Schema can be made of %s: %v", t, err)
	}
	return text, nil
}

// typeWalk makes the schema of a type. It holds the types around the one that it is at.
type typeWalk map[reflect.Type]bool

func (w typeWalk) schema(t reflect.Type) (*typeSchema, error) {
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
		return nil, fmt.Errorf("%s has an UnmarshalJSON of its own", t)
	case reads(reflect.TypeFor[encoding.TextUnmarshaler]()):
		return &typeSchema{Types: types{"string"}}, nil
	case t.Kind() == reflect.Interface && t.NumMethod() > 0:
		return nil, fmt.Errorf("nothing can be read into the interface %s", t)
	}
	w[t] = true
	defer delete(w, t)
	return w.inside(t)
}

// inside makes the schema of a type that reads nothing by itself.
func (w typeWalk) inside(t reflect.Type) (s *typeSchema, err error) {
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
			return nil, fmt.Errorf("the keys of %s are no texts", t)
		}
		s.Types = types{"object"}
		s.AdditionalProperties, err = w.schema(t.Elem())
	case reflect.Struct:
		s.Types, s.Properties, s.AdditionalProperties = types{"object"}, &members{}, false
		err = w.fields(s, t)
	case reflect.Interface: // anything
	default:
		err = s.scalar(t)
	}
	return s, err
}

// fields adds the fields of a struct, those of embedded structs among them.
func (w typeWalk) fields(s *typeSchema, t reflect.Type) error {
	var closed []int // the embedded field whose own fields are none of the struct's
	for _, field := range reflect.VisibleFields(t) {
		if within(field.Index, closed) {
			continue
		}
		tag := field.Tag.Get("json")
		name, options, _ := strings.Cut(tag, ",")
		if field.Anonymous {
			if name == "" && structIn(field.Type) {
				continue // its fields follow
			}
			closed = field.Index
		}
		if !field.IsExported() || tag == "-" {
			continue
		}
		settings := strings.Split(options, ",")
		if slices.Contains(settings, "string") {
			return fmt.Errorf("the option \"string\" of field %s is not known", field.Name)
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

// orNull lets a schema take null as well.
func orNull(s *typeSchema) {
	if s.Types != nil && !slices.Contains(s.Types, "null") {
		s.Types = append(types{"null"}, s.Types...)
	}
}
