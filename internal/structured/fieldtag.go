package structured

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/clichain/clichain/internal/pattern"
)

// settingShape matches the start of a tag that contains settings instead of a description.
var settingShape = pattern.Of(`^[^ \t\n]*=`)

// annotate adds the content of a field's tag to its schema. The tag is a description, or comma-separated settings:
// enum=VALUE for each value that the field may have, and description=TEXT as the last one.
func annotate(s *typeSchema, field reflect.StructField) error {
	tag, ok := field.Tag.Lookup("jsonschema")
	switch {
	case !ok:
		return nil
	case tag == "":
		return fmt.Errorf("the tag jsonschema of field %s is empty", field.Name)
	case !settingShape().MatchString(tag):
		s.Description = tag
		return nil
	}
	words, err := parseSettings(tag, s)
	if err == nil && len(words) > 0 {
		err = limit(s, words)
	}
	if err != nil {
		return fmt.Errorf("the tag jsonschema:%q of field %s: %w", tag, field.Name, err)
	}
	return nil
}

// parseSettings returns the enum values of a tag, and sets the description.
func parseSettings(tag string, s *typeSchema) (words []string, err error) {
	for rest := tag; rest != ""; {
		setting, value, _ := strings.Cut(rest, "=")
		switch strings.TrimSpace(setting) {
		case "enum":
			value, rest, _ = strings.Cut(value, ",")
			if strings.Contains(value, "|") {
				return nil, errors.New(`write one enum for each value, as in "enum=bug,enum=feature"`)
			}
			words = append(words, strings.TrimSpace(value))
		case "description":
			s.Description, rest = strings.TrimSpace(value), ""
		default:
			return nil, fmt.Errorf("%q is neither enum=VALUE nor description=TEXT", strings.TrimSpace(rest))
		}
	}
	return words, nil
}

// limit restricts the schema to the words. For a list, it restricts the elements.
func limit(s *typeSchema, words []string) error {
	for s.Items != nil {
		s = s.Items
	}
	for _, word := range words {
		value, err := enumValue(s.Types, word)
		if err != nil {
			return err
		}
		if slices.Contains(s.Enum, value) {
			return fmt.Errorf("%q appears twice", word)
		}
		s.Enum = append(s.Enum, value)
	}
	if slices.Contains(s.Types, "null") {
		s.Enum = append(s.Enum, nil)
	}
	return nil
}

// enumValue parses a word as a value of one of the types.
func enumValue(kinds []string, word string) (any, error) {
	switch {
	case slices.Contains(kinds, "string"):
		return word, nil
	case slices.Contains(kinds, "integer"):
		if n, err := strconv.ParseInt(word, 10, 64); err == nil {
			return n, nil
		}
		if n, err := strconv.ParseUint(word, 10, 64); err == nil {
			return n, nil
		}
		return nil, fmt.Errorf("%q is not an integer", word)
	case slices.Contains(kinds, "number"):
		n, err := strconv.ParseFloat(word, 64)
		if err != nil || math.IsInf(n, 0) || math.IsNaN(n) {
			return nil, fmt.Errorf("%q is not a number", word)
		}
		return n, nil
	}
	return nil, errors.New("an enum needs a string, a number, or a list of them")
}
