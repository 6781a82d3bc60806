// Package drift compares the names that a spec relies on with the names that a CLI version shows in its help, its
// schema and the strings of its files. It reports each name that has vanished or is new. Comparing starts no process.
package drift

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// Surface lists the names that a version of a CLI shows.
type Surface struct {
	// Flags are the flags in the help of each command, by the words of the command. The flags of the program itself
	// are under "".
	Flags map[string][]string `json:"flags"`
	// Events are the names of its events and messages, if its files or its schema list them.
	Events []string `json:"events,omitempty"`
}

// Needs are the names that a spec relies on, of the same kinds.
type Needs struct {
	Flags     map[string][]string
	Events    []string
	Variables []string // environment variables
}

// Kind is the kind of a name.
type Kind string

// The kinds.
const (
	Flag     Kind = "flag"
	Event    Kind = "event"
	Variable Kind = "variable"
)

// Change is a name that vanished or is new.
type Change struct {
	Kind    Kind
	Name    string
	Command string // the command that has the flag
	Used    bool   // the spec relies on it
}

// String returns the change for people, such as "flag --last of exec resume".
func (c Change) String() string {
	text := string(c.Kind) + " " + c.Name
	if c.Command != "" {
		text += " of " + c.Command
	}
	if c.Used {
		text += " (used)"
	}
	return text
}

// Report says how a version differs from the version that was checked. The zero value means no difference.
type Report struct {
	Vanished, New []Change
}

// Used returns the names that vanished and that the spec relies on.
func (r Report) Used() []Change {
	return slices.DeleteFunc(slices.Clone(r.Vanished), func(c Change) bool { return !c.Used })
}

// Compare reports the names of the checked version that are gone now, the names that the spec needs and that no list
// has, and the new names. A name that is not listed may still exist: in reports whether the files of the version
// contain it. A flag counts as gone if the help of the checked version had it and the help of the other version does
// not.
func Compare(needs Needs, checked, now Surface, in func(name string) bool) Report {
	var r Report
	commands := slices.Sorted(maps.Keys(merged(needs.Flags, checked.Flags, now.Flags)))
	for _, command := range commands {
		was, is, needed := checked.Flags[command], now.Flags[command], needs.Flags[command]
		r.add(Change{Kind: Flag, Command: command}, was, is, needed, in)
	}
	r.add(Change{Kind: Event}, checked.Events, now.Events, needs.Events, in)
	r.add(Change{Kind: Variable}, nil, nil, needs.Variables, in)
	return r
}

func merged(maps ...map[string][]string) map[string]bool {
	all := map[string]bool{}
	for _, m := range maps {
		for key := range m {
			all[key] = true
		}
	}
	return all
}

// add compares the names of one kind.
func (r *Report) add(like Change, was, is, needed []string, in func(string) bool) {
	for _, name := range sorted(was, needed) {
		listed, hidden := slices.Contains(was, name), in(name)
		if !slices.Contains(is, name) && (listed || !hidden) {
			change := like
			change.Name, change.Used = name, slices.Contains(needed, name)
			r.Vanished = append(r.Vanished, change)
		}
	}
	for _, name := range sorted(is) {
		if !slices.Contains(was, name) {
			change := like
			change.Name = name
			r.New = append(r.New, change)
		}
	}
}

// sorted joins lists, with each name once, ordered by the name without its dashes.
func sorted(lists ...[]string) []string {
	all := slices.Concat(lists...)
	slices.SortFunc(all, func(a, b string) int {
		return cmp.Or(cmp.Compare(strings.TrimLeft(a, "-"), strings.TrimLeft(b, "-")), cmp.Compare(a, b))
	})
	return slices.Compact(all)
}
