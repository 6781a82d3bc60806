package drift

import (
	"encoding/json"
	"regexp"
	"strings"
)

// defined matches a line of a help text that begins with flags. Text further to the right describes a flag.
var defined = regexp.MustCompile(`(?m)^ {1,8}(-[^\s,=<\[]+(?:, +-[^\s,=<\[]+)*)`)

// FlagsOf returns the flags that a help text defines, each once.
func FlagsOf(help string) (flags []string) {
	for _, m := range defined.FindAllStringSubmatch(help, -1) {
		for flag := range strings.SplitSeq(m[1], ",") {
			flags = append(flags, strings.TrimSpace(flag))
		}
	}
	return sorted(flags)
}

// MethodsOf returns the methods of the messages in a JSON Schema: the values of each property named "method".
func MethodsOf(schema []byte) (methods []string, err error) {
	var document any
	if err := json.Unmarshal(schema, &document); err != nil {
		return nil, err
	}
	walk(document, &methods)
	return sorted(methods), nil
}

func walk(value any, methods *[]string) {
	switch value := value.(type) {
	case []any:
		for _, element := range value {
			walk(element, methods)
		}
	case map[string]any:
		if properties, ok := value["properties"].(map[string]any); ok {
			method, _ := properties["method"].(map[string]any)
			names, _ := method["enum"].([]any)
			for _, name := range names {
				if text, ok := name.(string); ok {
					*methods = append(*methods, text)
				}
			}
		}
		for _, member := range value {
			walk(member, methods)
		}
	}
}
