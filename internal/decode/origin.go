package decode

import (
	"hash/maphash"
	"math"
	"strings"

	"github.com/clichain/clichain/internal/grammar"
	"github.com/clichain/clichain/internal/jsontext"
	"github.com/tidwall/gjson"
)

// origin is the source of a setter's value.
type origin struct {
	literal gjson.Result // used if it exists
	path    jsontext.Path
	element bool   // the path starts at the element of Each
	most    string // selects the member of the object that has the greatest number of this name
}

// origins parses a value of EventRule.Set.
func origins(value string) (list []origin) {
	for _, alternative := range grammar.Alternatives(value) {
		if text, ok := strings.CutPrefix(alternative, "="); ok {
			literal := gjson.Result{Type: gjson.String, Str: text, Raw: jsontext.Quote(text)}
			list = append(list, origin{literal: literal})
			continue
		}
		path, element := strings.CutPrefix(alternative, grammar.ElementPrefix)
		path, most, _ := strings.Cut(path, grammar.MostModifier)
		list = append(list, origin{path: jsontext.ParsePath(path), element: element, most: most})
	}
	return list
}

var idSeed = maphash.MakeSeed()

// hashed returns a hash of an id, 0 for an empty id.
func hashed(id string) uint64 {
	if id == "" {
		return 0
	}
	return maphash.String(idSeed, id)
}

func (o *origin) value(object *jsontext.Object, element string) gjson.Result {
	if o.literal.Exists() {
		return o.literal
	}
	value := object.At(&o.path, element, o.element)
	if o.most != "" {
		return most(value, o.most)
	}
	return value
}

// most returns the name of the member of an object in which the named number is the greatest; of equal ones, the first.
// The result does not exist if object is not an object or has no members.
func most(object gjson.Result, number string) (name gjson.Result) {
	if !object.IsObject() {
		return name
	}
	greatest := math.Inf(-1)
	object.ForEach(func(key, value gjson.Result) bool {
		if n := value.Get(number).Float(); n > greatest {
			name, greatest = key, n
		}
		return true
	})
	return name
}
