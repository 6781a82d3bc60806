package decode

import (
	"hash/maphash"
	"math"
	"strings"

	"github.com/clichain/clichain/internal/grammar"
	"github.com/clichain/clichain/internal/jsontext"
	"github.com/tidwall/gjson"
)

// origin is where a setter's value comes from.
type origin struct {
	literal gjson.Result // when it exists
	path    jsontext.Path
	element bool   // the path starts at the element of Each
	most    string // the member of the object there that has the most of this
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

// hashed is a hash of an id; 0 of none.
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

// most is the name of the member of an object in which a number is the greatest, the first of equal ones. It does not
// exist for an object without members, and for anything else.
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
