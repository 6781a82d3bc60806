package clispec

import (
	"path"
	"slices"
	"strings"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/internal/grammar"
)

// confine checks the files of a confined CLI. A repeated entry is probably a typing error.
func (v *validator) confine(rules ConfineRules) {
	first := map[string]string{}
	unique := func(at, value string) {
		if other, ok := first[value]; ok {
			v.add(at, value, "is also in "+other+": omit one")
			return
		}
		first[value] = at
	}
	each("confine.state", rules.State, func(at string, state StatePath) {
		confinedPath(v, at+".path", state.Path)
		unique(at+".path", state.Path)
		each(at+".watch", state.Watch, func(at, name string) {
			switch {
			case state.File:
				v.jsonPath(at, name, "")
			case name == ".":
				v.add(at, name, "is the whole directory: name the files in it")
			default:
				v.below(at, name)
			}
		})
	})
	each("confine.read", rules.Read, func(at, name string) {
		confinedPath(v, at, name)
		unique(at, name)
	})
	each("confine.own", rules.Own, func(at string, access call.Access) {
		if access < call.AccessNone || access > call.AccessFull {
			v.add(at, access.String(), "is not an access level")
			return
		}
		unique(at, access.String())
	})
}

// confinedPath checks the path of a file that a confined CLI may use. The path must not depend on the working
// directory, which may be untrusted, and must not permit all files of the user.
func confinedPath(v *validator, at, name string) {
	v.text(at, name)
	template, err := grammar.ReadPath(name)
	if err != nil {
		v.add(at, name, err.Error())
		return
	}
	fallback, ok := template.Fallback()
	switch {
	case !ok: // no path if the variable is not set
	case strings.HasPrefix(fallback, "./") || !rooted(fallback):
		v.add(at, name, "must start with \"~/\", \"${\" or a root, also after \":-\"")
	case slices.Contains([]string{"~", "/"}, path.Clean(fallback)):
		v.add(at, name, "permits the whole home directory or file system: name a directory or file in it")
	}
	if slices.Contains(strings.FieldsFunc(name, separates), "..") {
		v.add(at, name, "must not contain \"..\"")
	}
}

func separates(r rune) bool { return strings.ContainsRune(`/\{}`, r) }
