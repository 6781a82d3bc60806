package structured

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// typeSchema is the JSON Schema of a Go type.
type typeSchema struct {
	Types                types       `json:"type,omitempty"`
	Description          string      `json:"description,omitempty"`
	Enum                 []any       `json:"enum,omitempty"`
	Minimum              *int64      `json:"minimum,omitempty"`
	Maximum              *int64      `json:"maximum,omitempty"`
	Format               string      `json:"format,omitempty"`
	ContentEncoding      string      `json:"contentEncoding,omitempty"`
	Items                *typeSchema `json:"items,omitempty"`
	MinItems             *int        `json:"minItems,omitempty"`
	MaxItems             *int        `json:"maxItems,omitempty"`
	Properties           *members    `json:"properties,omitempty"`
	Required             []string    `json:"required,omitempty"`
	AdditionalProperties any         `json:"additionalProperties,omitempty"` // false or a schema
}

// scalar sets the schema of a bool, a number or a string. Integers of 8 to 32 bits get both limits of their type, other
// unsigned integers only the minimum 0.
func (s *typeSchema) scalar(t reflect.Type) error {
	switch t.Kind() {
	case reflect.Bool:
		s.Types = types{"boolean"}
	case reflect.Int8, reflect.Int16, reflect.Int32:
		half := int64(1) << (t.Bits() - 1)
		s.Types, s.Minimum, s.Maximum = types{"integer"}, new(-half), new(half-1)
	case reflect.Int, reflect.Int64:
		s.Types = types{"integer"}
	case reflect.Uint8, reflect.Uint16, reflect.Uint32:
		s.Types, s.Minimum, s.Maximum = types{"integer"}, new(int64(0)), new(int64(1)<<t.Bits()-1)
	case reflect.Uint, reflect.Uint64, reflect.Uintptr:
		s.Types, s.Minimum = types{"integer"}, new(int64(0))
	case reflect.Float32, reflect.Float64:
		s.Types = types{"number"}
	case reflect.String:
		s.Types = types{"string"}
	default:
		return fmt.Errorf("JSON has no equivalent of %s", t)
	}
	return nil
}

// types lists the names of the permitted types.
type types []string

// String joins the names with "or".
func (t types) String() string { return strings.Join(t, " or ") }

// MarshalJSON encodes a single name as a string.
func (t types) MarshalJSON() ([]byte, error) {
	if len(t) == 1 {
		return json.Marshal(t[0])
	}
	return json.Marshal([]string(t))
}

// members holds the properties of an object in the order of the fields. Models write them in that order.
type members []member

type member struct {
	name   string
	schema *typeSchema
}

// set adds a property at the end, or replaces the property of that name.
func (m *members) set(name string, schema *typeSchema) {
	*m = append(slices.DeleteFunc(*m, func(other member) bool { return other.name == name }), member{name, schema})
}

// MarshalJSON encodes the properties in order.
func (m *members) MarshalJSON() ([]byte, error) {
	var out bytes.Buffer
	out.WriteByte('{')
	for i, one := range *m {
		if i > 0 {
			out.WriteByte(',')
		}
		name, err := json.Marshal(one.name)
		if err != nil {
			return nil, err
		}
		schema, err := json.Marshal(one.schema)
		if err != nil {
			return nil, err
		}
		out.Write(name)
		out.WriteByte(':')
		out.Write(schema)
	}
	out.WriteByte('}')
	return out.Bytes(), nil
}
