package structured

import (
	"encoding/json"
	"slices"
	"strconv"
	"unicode/utf8"
)

// basic checks values against the schemas that read accepts.
type basic struct {
	root      *node
	unbounded bool // for metaSchema, which needs few steps
	steps     Steps
	quiet     int // record findings only while it is 0
	place     []string
	found     []finding
}

// Check implements Checker.
func (c *basic) Check(value any, size int) (findings []string, err error) {
	c.place, c.found, c.quiet = nil, nil, 0
	valid := false
	if err := c.steps.Guard(size, func() { valid = c.value(c.root, value) }); err != nil {
		return nil, err
	}
	if valid {
		return nil, nil
	}
	for _, f := range c.found {
		findings = append(findings, f.line())
	}
	return findings, nil
}

// fail adds a finding about the current value.
func (c *basic) fail(say string, args ...any) bool {
	if c.quiet == 0 && len(c.found) < MaxFindings {
		c.found = append(c.found, finding{slices.Clone(c.place), say, args})
	}
	return false
}

// value reports whether a value matches a schema. Like the full checker, it reports a wrong type, const, enum or format
// as the only finding.
func (c *basic) value(n *node, value any) bool {
	if n.constant != nil {
		return *n.constant || c.fail("false schema")
	}
	if !c.kind(n, value) {
		return false
	}
	valid := n.ref == nil || c.value(n.ref, value)
	switch value := value.(type) {
	case map[string]any:
		valid = c.object(n, value) && valid
	case []any:
		valid = c.array(n, value) && valid
	case string:
		valid = c.size(n, "string", func() int { return utf8.RuneCountInString(value) }) && valid
		if n.pattern != nil && !n.pattern.MatchString(value) {
			valid = c.fail("%s does not match pattern %s", quoted(value), quoted(n.pattern.String()))
		}
	case json.Number:
		valid = c.number(n, value) && valid
	}
	if valid || c.quiet == 0 {
		valid = c.combined(n, value) && valid
		if !c.unbounded {
			c.steps.Take()
		}
	}
	return valid
}

// kind checks type, const, enum and format.
func (c *basic) kind(n *node, value any) bool {
	kind := typeOf(value)
	number, _ := value.(json.Number)
	switch {
	case n.types != nil && !slices.Contains(n.types, kind) &&
		!(kind == "number" && slices.Contains(n.types, "integer") && rational(number).IsInt()):
		return c.fail("got %s, want %s", kind, types(n.types))
	case n.only != nil && !equal(value, *n.only):
		return c.fail("%s", allowed{[]any{*n.only}, "const"})
	case n.hasEnum && !slices.ContainsFunc(n.enum, func(one any) bool { return equal(value, one) }):
		return c.fail("%s", allowed{n.enum, "enum"})
	}
	text, ok := value.(string)
	if n.dateTime && ok && !isDateTime(text) {
		return c.fail("%s is not valid date-time: write it as in %s", quoted(text), quoted("2006-01-02T15:04:05Z"))
	}
	return true
}

// size checks the limits on the number of elements, members or characters of a value of this type.
func (c *basic) size(n *node, of string, count func() int) bool {
	valid := true
	for _, rule := range n.sizes {
		if rule.of != of {
			continue
		}
		if got := count(); rule.most && got > rule.want || !rule.most && got < rule.want {
			valid = c.fail("%s: got %d, want %d", rule.word, got, rule.want)
		}
	}
	return valid
}

func (c *basic) number(n *node, value json.Number) bool {
	valid := true
	for _, rule := range n.numbers {
		if !rule.met(rational(value)) {
			valid = c.fail("%s: got %s, want %s", rule.word, value, rule.text)
		}
	}
	return valid
}

func (c *basic) object(n *node, object map[string]any) bool {
	valid := c.size(n, "object", func() int { return len(object) })
	var missing, others names
	for _, name := range n.required {
		if _, ok := object[name]; !ok {
			missing = append(missing, name)
		}
	}
	switch len(missing) {
	case 0:
	case 1:
		valid = c.fail("missing property %s", missing)
	default:
		valid = c.fail("missing properties %s", missing)
	}
	for name, value := range object {
		if c.quiet > 0 && !valid {
			return false
		}
		switch below := n.properties[name]; {
		case below != nil:
			valid = c.below(below, value, name) && valid
		case n.closed:
			others = append(others, name)
		case n.additional != nil:
			valid = c.below(n.additional, value, name) && valid
		}
	}
	if len(others) > 0 {
		slices.Sort(others)
		valid = c.fail("additional properties %s not allowed", others)
	}
	return valid
}

func (c *basic) array(n *node, array []any) bool {
	valid := c.size(n, "array", func() int { return len(array) })
	if n.unique {
		if i, j, ok := same(array); ok {
			valid = c.fail("items at %d and %d are equal", i, j)
		}
	}
	if n.items != nil {
		for i, item := range array {
			valid = c.below(n.items, item, strconv.Itoa(i)) && valid
		}
	}
	return valid
}

// below checks a value inside the current one.
func (c *basic) below(n *node, value any, step string) bool {
	c.place = append(c.place, step)
	valid := c.value(n, value)
	c.place = c.place[:len(c.place)-1]
	return valid
}

// silently checks a value without recording findings.
func (c *basic) silently(n *node, value any) bool {
	c.quiet++
	valid := c.value(n, value)
	c.quiet--
	return valid
}

// combined checks not, allOf, anyOf and oneOf.
func (c *basic) combined(n *node, value any) bool {
	valid := true
	if n.not != nil && c.silently(n.not, value) {
		valid = c.fail("'not' failed")
	}
	for _, all := range n.allOf {
		if valid = c.value(all, value) && valid; !valid && c.quiet > 0 {
			return false
		}
	}
	before := len(c.found)
	if n.anyOf != nil {
		if slices.ContainsFunc(n.anyOf, func(one *node) bool { return c.value(one, value) }) {
			c.found = c.found[:before] // drops the findings of alternatives
		} else {
			valid = false
		}
	}
	return c.one(n, value) && valid
}

// one checks oneOf.
func (c *basic) one(n *node, value any) bool {
	before, match := len(c.found), -1
	for i, one := range n.oneOf {
		switch {
		case match < 0 && c.value(one, value):
			match = i
			c.found = c.found[:before] // drops the findings of alternatives
		case match >= 0 && c.silently(one, value):
			return c.fail("'oneOf' failed, subschemas %d, %d matched", match, i)
		}
	}
	return n.oneOf == nil || match >= 0
}
