package specs

import (
	"fmt"
	"slices"

	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/specfile"
	"github.com/clichain/clichain/internal/spelling"
)

// base returns the initial value of a spec in the file: the zero value, or the spec of which it is an instance. That
// spec is built in or earlier in the file.
func (f *file) base(at root) (spec clispec.Spec, mistakes []specfile.Mistake) {
	of := at.node.Get("instance_of")
	if !says(of) {
		return spec, nil
	}
	wrong := func(place specfile.Place, field, problem string) {
		mistakes = append(mistakes, specfile.Mistake{Place: place, Path: at.join(field), Problem: problem})
	}
	if !says(at.node.Get("name")) {
		wrong(at.node.Place, "name", "is missing: an instance needs its own name")
	}
	all := append(slices.Clone(f.specs), Every()...)
	i := slices.IndexFunc(all, func(s clispec.Spec) bool { return s.Name == of.Value })
	switch {
	case i < 0:
		wrong(
			of.Place, "instance_of",
			fmt.Sprintf("%q is not a built-in spec or an earlier spec of the file%s", of.Value, meant(of.Value, all)),
		)
	case all[i].InstanceOf != "":
		wrong(of.Place, "instance_of", fmt.Sprintf("%q is an instance itself: write %q", of.Value, all[i].InstanceOf))
	default:
		spec = all[i]
	}
	return spec, mistakes
}

// says reports whether there is a value.
func says(n *specfile.Node) bool { return n != nil && n.Kind != specfile.Null }

// meant returns the name of the most similar spec.
func meant(name string, all []clispec.Spec) string {
	var names []string
	for _, spec := range all {
		names = append(names, spec.Name)
	}
	if near := spelling.Near(name, names); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	return ""
}
