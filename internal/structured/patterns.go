package structured

import (
	"fmt"
	"maps"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"

	"github.com/clichain/clichain/internal/plaintext"
)

// A pattern that repeats a long group a thousand times compiles to gigabytes, and a schema can contain many patterns.
// Patterns in use are far below these limits.
const (
	maxPattern  = 1000    // bytes of one pattern
	maxProgram  = 10_000  // instructions of one compiled pattern
	maxPrograms = 100_000 // instructions of all compiled patterns of a schema or an answer
	maxPatterns = 1000    // different patterns of a schema or an answer
)

var (
	errManyPatterns = fmt.Errorf("has more than %d different patterns: use fewer", maxPatterns)
	errManySteps    = fmt.Errorf("has patterns that compile to more than %d instructions in total: "+
		"use fewer repetitions or fewer patterns", maxPrograms)
)

// Patterns compiles each pattern of a schema once, and refuses patterns that would take too much time or memory. An
// answer also contains patterns if the schema uses the format "regex". The zero value is ready to use.
type Patterns struct {
	ofSchema     map[string]*regexp.Regexp // nil before the first answer
	known        map[string]*regexp.Regexp
	count, steps int
	refused      string // the first refused pattern
	err          error  // the reason
}

// Reset restarts the count for an answer. It keeps the compiled patterns of the schema.
func (l *Patterns) Reset() {
	switch {
	case l.ofSchema != nil:
	case l.known != nil:
		l.ofSchema = l.known
	default: // the schema has no patterns
		l.ofSchema = map[string]*regexp.Regexp{}
	}
	*l = Patterns{ofSchema: l.ofSchema, known: maps.Clone(l.ofSchema)}
}

// Compile compiles a pattern of the schema or, after Reset, of an answer.
func (l *Patterns) Compile(pattern string) (*regexp.Regexp, error) {
	if re, ok := l.known[pattern]; ok {
		return re, nil
	}
	if err := l.admit(pattern); err != nil {
		if l.err == nil {
			l.refused, l.err = pattern, err
		}
		return nil, err
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return nil, err
	}
	if l.known == nil {
		l.known = map[string]*regexp.Regexp{}
	}
	l.known[pattern] = re
	return re, nil
}

// admit counts a pattern and checks it against the limits.
func (l *Patterns) admit(pattern string) error {
	if len(pattern) > maxPattern {
		return fmt.Errorf("has %d bytes, the maximum is %d: write a shorter pattern", len(pattern), maxPattern)
	}
	if l.count++; l.count > maxPatterns {
		return errManyPatterns
	}
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil // regexp.Compile reports the error
	}
	steps := stepsOf(tree)
	if steps > maxProgram {
		return fmt.Errorf("compiles to %d instructions, the maximum is %d: use fewer repetitions", steps, maxProgram)
	}
	if l.steps += steps; l.steps > maxPrograms {
		return errManySteps
	}
	return nil
}

// stepsOf estimates the number of instructions that a pattern compiles to.
func stepsOf(re *syntax.Regexp) int {
	steps := 0
	for _, sub := range re.Sub {
		steps += stepsOf(sub)
	}
	switch re.Op {
	case syntax.OpLiteral:
		return len(re.Rune)
	case syntax.OpCapture:
		return steps + 2
	case syntax.OpConcat:
		return steps
	case syntax.OpAlternate:
		return steps + len(re.Sub) - 1
	case syntax.OpRepeat: // a{2,4} is aa(?:a(?:a)?)?, and a{2,} is aa+
		if re.Max < 0 {
			return max(re.Min, 1)*steps + 1
		}
		return re.Max*steps + re.Max - re.Min
	}
	return steps + 1
}

// Refusal returns the refused pattern of the schema with the reason, or "".
func (l *Patterns) Refusal(document any) string {
	switch l.err {
	case nil:
		return ""
	case errManyPatterns, errManySteps:
		return l.err.Error()
	}
	start := []rune(l.refused)
	if start = start[:min(len(start), 30)]; len(string(start)) < len(l.refused) {
		start = append(start, '…')
	}
	place, _ := placeOf(l.refused, document, "")
	return fmt.Sprintf("at '%s': the pattern %q %s", plaintext.OneLine(place), string(start), l.err)
}

// placeOf returns the JSON pointer of a pattern in a schema. For a name in patternProperties, which may be long, it
// returns the pointer of patternProperties.
func placeOf(pattern string, value any, at string) (place string, ok bool) {
	switch value := value.(type) {
	case []any:
		for i, element := range value {
			if place, ok = placeOf(pattern, element, at+"/"+strconv.Itoa(i)); ok {
				return place, true
			}
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(value)) {
			below := at + "/" + pointerStep.Replace(name)
			names, _ := value[name].(map[string]any)
			_, isName := names[pattern]
			if name == "pattern" && value[name] == any(pattern) || name == "patternProperties" && isName {
				return below, true
			}
			if place, ok = placeOf(pattern, value[name], below); ok {
				return place, true
			}
		}
	}
	return "", false
}

// pointerStep escapes a name for a JSON pointer.
var pointerStep = strings.NewReplacer("~", "~0", "/", "~1")
