package fullschema

import "github.com/santhosh-tekuri/jsonschema/v6"

// maxLevels is the maximum recursion depth of the validator in a check. Each level uses about 1.4 KB of stack. Go ends
// the program, without a chance to recover, if a stack exceeds 1 GB.
const maxLevels = 100_000

// graph finds the longest chain of schemas that apply to one value.
type graph struct {
	heights map[*jsonschema.Schema]int // 0 means unknown
	longest int
	cyclic  bool // or its references are resolved during a check
}

// chainOf returns the length of the longest chain of schemas that apply to one value. In a chain, the validator visits
// no schema twice, so for a cycle it returns the number of schemas.
func chainOf(root *jsonschema.Schema) int {
	g := &graph{heights: map[*jsonschema.Schema]int{}}
	g.height(root)
	if g.cyclic {
		return len(g.heights)
	}
	return g.longest
}

// height returns the length of the longest chain that starts at s. It visits everything that s refers to.
func (g *graph) height(s *jsonschema.Schema) int {
	if height, ok := g.heights[s]; ok {
		g.cyclic = g.cyclic || height == 0
		return height
	}
	g.heights[s] = 0
	g.cyclic = g.cyclic || s.DynamicRef != nil || s.RecursiveRef != nil
	height := 0
	for _, part := range inPlace(s) {
		height = max(height, g.height(part))
	}
	g.heights[s] = height + 1
	g.longest = max(g.longest, height+1)
	for _, part := range below(s) {
		g.height(part)
	}
	return height + 1
}

// inPlace lists the schemas that apply to the same value as s.
func inPlace(s *jsonschema.Schema) []*jsonschema.Schema {
	list := []*jsonschema.Schema{s.Ref, s.RecursiveRef, s.Not, s.If, s.Then, s.Else}
	if s.DynamicRef != nil {
		list = append(list, s.DynamicRef.Ref)
	}
	for _, part := range s.DependentSchemas {
		list = append(list, part)
	}
	for _, part := range s.Dependencies {
		list = append(list, schemas(part)...)
	}
	return present(list, s.AllOf, s.AnyOf, s.OneOf)
}

// below lists the schemas that apply to values inside the value of s.
func below(s *jsonschema.Schema) []*jsonschema.Schema {
	list := []*jsonschema.Schema{s.PropertyNames, s.Contains, s.Items2020, s.UnevaluatedProperties, s.UnevaluatedItems}
	for _, part := range s.Properties {
		list = append(list, part)
	}
	for _, part := range s.PatternProperties {
		list = append(list, part)
	}
	return present(list, s.PrefixItems, schemas(s.Items), schemas(s.AdditionalItems), schemas(s.AdditionalProperties))
}

// schemas lists the schemas in a field that may have several types.
func schemas(field any) []*jsonschema.Schema {
	switch field := field.(type) {
	case *jsonschema.Schema:
		return []*jsonschema.Schema{field}
	case []*jsonschema.Schema:
		return field
	}
	return nil
}

// present joins the lists and drops missing schemas.
func present(lists ...[]*jsonschema.Schema) (joined []*jsonschema.Schema) {
	for _, list := range lists {
		for _, s := range list {
			if s != nil {
				joined = append(joined, s)
			}
		}
	}
	return joined
}

// depthOf returns the nesting depth of a value.
func depthOf(value any) int {
	depth := 0
	switch value := value.(type) {
	case []any:
		for _, element := range value {
			depth = max(depth, depthOf(element))
		}
	case map[string]any:
		for _, element := range value {
			depth = max(depth, depthOf(element))
		}
	}
	return depth + 1
}
