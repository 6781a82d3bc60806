package request

import (
	"maps"
	"regexp"
	"slices"
	"sync"
)

// Policy is how one request is parsed, and collects the fields that the server ignores. The zero value ignores every
// field that does not change the meaning of a request.
type Policy struct {
	Strict  bool   // refuse these fields
	Setting string // the name of Strict in errors
	// Recall returns the text of an earlier answer. Nil: there is none.
	Recall func(id string) (text string, ok bool)

	ignored map[string]bool
}

// index matches the index in the path of a field. All messages share one entry in the list of ignored fields.
var index = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\[\d+\]`) })

func (p *Policy) ignore(path string) {
	if p.ignored == nil {
		p.ignored = map[string]bool{}
	}
	p.ignored[index().ReplaceAllString(path, "")] = true
}

// Ignored returns the paths of the ignored fields without indexes, in alphabetical order.
func (p *Policy) Ignored() []string { return slices.Sorted(maps.Keys(p.ignored)) }
