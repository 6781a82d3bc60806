package jsontext

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// Strict decodes a text that is one JSON value with the same meaning to every parser. It returns an error for an object
// with a duplicate name, because parsers differ in which value they use, and for numbers that a float64 cannot
// represent. Numbers become [json.Number], as written. The error texts begin with a verb, such as "is not a JSON
// value".
func Strict(text string) (any, error) {
	body := bytes.TrimSpace([]byte(text))
	if end, ok := Value(body, MaxDepth); !ok || end < len(body) {
		return nil, fmt.Errorf("is not a JSON value, or nested deeper than %d", MaxDepth)
	}
	r := strictReader{dec: json.NewDecoder(bytes.NewReader(body))}
	r.dec.UseNumber()
	return r.value()
}

type strictReader struct {
	dec  *json.Decoder
	path []string
}

func (r *strictReader) value() (any, error) {
	token, err := r.dec.Token()
	if err != nil {
		return nil, fmt.Errorf("is not a JSON value: %w", err)
	}
	switch t := token.(type) {
	case json.Number:
		return t, r.checkNumber(string(t))
	case json.Delim:
		if t == '{' {
			return r.object()
		}
		return r.array()
	}
	return token, nil
}

func (r *strictReader) object() (any, error) {
	object := map[string]any{}
	for r.dec.More() {
		token, err := r.dec.Token()
		if err != nil {
			return nil, fmt.Errorf("is not a JSON value: %w", err)
		}
		name, _ := token.(string)
		if _, twice := object[name]; twice {
			return nil, fmt.Errorf("%shas the name %q twice", r.at(), name)
		}
		if object[name], err = r.inside(name); err != nil {
			return nil, err
		}
	}
	_, err := r.dec.Token()
	return object, err
}

func (r *strictReader) array() (any, error) {
	array := []any{}
	for r.dec.More() {
		element, err := r.inside(strconv.Itoa(len(array)))
		if err != nil {
			return nil, err
		}
		array = append(array, element)
	}
	_, err := r.dec.Token()
	return array, err
}

func (r *strictReader) inside(step string) (any, error) {
	r.path = append(r.path, step)
	defer func() { r.path = r.path[:len(r.path)-1] }()
	return r.value()
}

// checkNumber returns an error for numbers that a float64 turns into infinity or zero, such as 1e400: exact arithmetic
// with them could take very long.
func (r *strictReader) checkNumber(number string) error {
	mantissa, _, _ := strings.Cut(strings.ToLower(number), "e")
	f, err := strconv.ParseFloat(number, 64)
	if err != nil || f == 0 && strings.ContainsAny(mantissa, "123456789") {
		return fmt.Errorf("%shas a number out of range: %s", r.at(), number)
	}
	return nil
}

// at returns the position as a JSON pointer, for the start of an error text.
func (r *strictReader) at() string {
	if len(r.path) == 0 {
		return ""
	}
	return "at '/" + strings.Join(r.path, "/") + "': "
}
