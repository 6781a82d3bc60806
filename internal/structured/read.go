package structured

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"

	"github.com/clichain/clichain/internal/pattern"
	"github.com/clichain/clichain/internal/plaintext"
)

// fullPackage is the package that a program imports to support every schema.
const fullPackage = "github.com/clichain/clichain/fullschema"

// schemaReader converts a schema to nodes. It keeps the first reason for refusing the schema.
type schemaReader struct {
	draft    string
	patterns Patterns
	named    map[string]*node // by the $ref to it
	refs     []reference
	refused  error
}

type reference struct {
	from   *node
	to, at string
}

// read converts a schema for the basic checker, or returns the reason why the basic checker does not support it.
func read(document map[string]any) (*node, error) {
	draft := draft2020
	if name, ok := document["$schema"].(string); ok {
		if draft = dialectOf(name); draft == "" {
			return nil, needsFull("", "the dialect "+strconv.Quote(name))
		}
	}
	meta := &basic{root: metaNodes[draft](), unbounded: true}
	if findings, _ := meta.Check(document, 0); len(findings) > 0 {
		return nil, errors.New(Invalid(findings))
	}
	r := &schemaReader{draft: draft, named: map[string]*node{}}
	root := r.node(document, "")
	if refusal := r.patterns.Refusal(document); refusal != "" {
		return nil, errors.New(refusal)
	}
	r.resolve()
	known := map[*node]int{}
	for _, ref := range r.refs {
		if r.refused == nil && ref.from.height(known) > maxInPlace {
			r.refuse(needsFull(ref.at+"/$ref", "a circular or deeply nested reference"))
		}
	}
	return root, r.refused
}

func (r *schemaReader) refuse(err error) {
	if r.refused == nil {
		r.refused = err
	}
}

func needsFull(at, what string) error {
	return fmt.Errorf("%s: %s needs the full checker: import _ %q in the program", atPlace(at), what, fullPackage)
}

func atPlace(at string) string {
	if at == "" {
		return "at the top"
	}
	return "at " + quote(at)
}

// plainRef matches the references within a schema that the basic checker resolves.
var plainRef = pattern.Of(`^#(?:/(?:\$defs|definitions)/[A-Za-z0-9_.-]+)?$`)

// plainID matches the schema ids that do not affect references, because all supported references begin with "#".
var plainID = pattern.Of(`^https?://[A-Za-z0-9.-]+(?:/[A-Za-z0-9._-]+)*$`)

// resolve sets the targets of the references.
func (r *schemaReader) resolve() {
	for _, ref := range r.refs {
		target := r.named[ref.to]
		switch {
		case !plainRef().MatchString(ref.to):
			r.refuse(needsFull(ref.at+"/$ref", "the reference "+strconv.Quote(ref.to)))
		case target == nil:
			r.refuse(fmt.Errorf("is not a valid JSON Schema: at %s: %q is not found", quote(ref.at+"/$ref"), ref.to))
		}
		ref.from.ref = target
	}
}

// node converts one schema, which is valid according to metaSchema.
func (r *schemaReader) node(schema any, at string) *node {
	n := new(node)
	if at == "" {
		r.named["#"] = n
	}
	object, ok := schema.(map[string]any)
	if always, isBool := schema.(bool); isBool {
		n.constant = &always
	} else if len(object) == 0 {
		n.constant = new(true)
	}
	if !ok {
		return n
	}
	_, refers := object["$ref"]
	for _, word := range slices.Sorted(maps.Keys(object)) {
		if refers && r.draft == draft7 && !slices.Contains(besideRef, word) {
			r.refuse(needsFull(at, strconv.Quote(word)+" beside $ref in draft 7"))
		}
		r.keyword(n, object, word, at)
	}
	return n
}

// besideRef lists the keywords that draft 7 does not ignore beside $ref, and those without an effect.
var besideRef = []string{"$ref", "$schema", "$comment", "$defs", "definitions", "title", "description", "default"}

// keyword converts one member of a schema.
func (r *schemaReader) keyword(n *node, object map[string]any, word, at string) {
	value, here := object[word], at+"/"+pointerStep.Replace(word)
	if rule, ok := sizeWords[word]; ok {
		rule.word = word
		size := rational(value.(json.Number)).Num()
		if rule.want = int(size.Int64()); !size.IsInt64() {
			r.refuse(needsFull(here, "a number that large"))
		}
		n.sizes = append(n.sizes, rule)
		return
	}
	switch word {
	case "$schema":
		if dialectOf(value.(string)) == "" {
			r.refuse(needsFull(here, "the dialect "+strconv.Quote(value.(string))))
		}
	case "$id":
		if at != "" || !plainID().MatchString(value.(string)) {
			r.refuse(needsFull(here, "the name "+strconv.Quote(value.(string))))
		}
	case "$ref":
		r.refs = append(r.refs, reference{n, value.(string), at})
	case "type":
		n.types = typeNames(value)
	case "const":
		n.only = &value
	case "enum":
		n.enum, n.hasEnum = value.([]any), true
	case "format":
		r.format(n, value, here)
	case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf":
		text := value.(json.Number)
		n.numbers = append(n.numbers, numberRule{word, rational(text), text})
	case "pattern":
		n.pattern = r.regexp(value.(string), here)
	case "uniqueItems":
		n.unique = value.(bool)
	case "required":
		for _, name := range value.([]any) {
			n.required = append(n.required, name.(string))
		}
	default:
		r.applicator(n, value, word, at)
	}
}

// applicator converts a keyword whose value contains schemas. It refuses keywords that only the full checker supports.
func (r *schemaReader) applicator(n *node, value any, word, at string) {
	here := at + "/" + pointerStep.Replace(word)
	switch word {
	case "$defs", "definitions":
		for name, below := range r.members(value, here) {
			if at == "" {
				r.named["#/"+word+"/"+name] = below
			}
		}
	case "properties":
		n.properties = r.members(value, here)
	case "additionalProperties":
		if n.closed = value == false; !n.closed {
			n.additional = r.node(value, here)
		}
	case "items":
		if _, ok := value.([]any); ok {
			r.refuse(needsFull(here, "a list of schemas"))
		}
		n.items = r.node(value, here)
	case "not":
		n.not = r.node(value, here)
	case "allOf":
		n.allOf = r.list(value, here)
	case "anyOf":
		n.anyOf = r.list(value, here)
	case "oneOf":
		n.oneOf = r.list(value, here)
	default:
		if slices.Contains(beyond, word) {
			r.refuse(needsFull(at, "the keyword "+strconv.Quote(word)))
		}
	}
}

func (r *schemaReader) members(value any, at string) map[string]*node {
	members := map[string]*node{}
	object := value.(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(object)) {
		members[name] = r.node(object[name], at+"/"+pointerStep.Replace(name))
	}
	return members
}

func (r *schemaReader) list(value any, at string) (list []*node) {
	for i, schema := range value.([]any) {
		list = append(list, r.node(schema, at+"/"+strconv.Itoa(i)))
	}
	return list
}

// format converts the name of a format, and ignores other values.
func (r *schemaReader) format(n *node, value any, at string) {
	name, _ := value.(string)
	if n.dateTime = name == "date-time"; slices.Contains(beyondFormats, name) {
		r.refuse(needsFull(at, "the format "+strconv.Quote(name)))
	}
}

func (r *schemaReader) regexp(text, at string) *regexp.Regexp {
	re, err := r.patterns.Compile(text)
	if err != nil {
		r.refuse(fmt.Errorf("is not a valid JSON Schema: at %s: %s is not valid regex: %s",
			quote(at), quote(text), plaintext.OneLine(err.Error())))
	}
	return re
}

// typeNames returns the types that a schema names, in the order of typeOrder.
func typeNames(value any) []string {
	list, ok := value.([]any)
	if !ok {
		list = []any{value}
	}
	return slices.DeleteFunc(slices.Clone(typeOrder), func(name string) bool { return !slices.Contains(list, any(name)) })
}
