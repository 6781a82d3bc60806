package compose

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/clichain/clichain/clispec"
)

// models decides what a request's model name means to one backend.
type models struct {
	names   []string // what addresses this backend: its name and its slug
	deflt   string
	aliases map[string]string
	accept  []*regexp.Regexp
}

// newModels needs patterns that passed Validate. The caller's own aliases win.
func newModels(spec *clispec.Spec, own map[string]string) models {
	m := models{deflt: spec.DefaultModel, aliases: map[string]string{}, names: []string{spec.Name}}
	maps.Copy(m.aliases, spec.Models.Aliases)
	maps.Copy(m.aliases, own)
	if spec.ProviderSlug != "" && spec.ProviderSlug != spec.Name {
		m.names = append(m.names, spec.ProviderSlug)
	}
	for _, pattern := range spec.Models.Accept {
		m.accept = append(m.accept, regexp.MustCompile(pattern))
	}
	return m
}

// Resolve returns the name to give to the CLI, "" to leave the choice to it,
// and false when the model is another backend's.
func (m *models) Resolve(name string) (string, bool) {
	name = strings.TrimSpace(name)
	if m.isDefault(name) || slices.Contains(m.names, name) {
		return "", true
	}
	if rest, ok := m.addressed(name); ok {
		if m.isDefault(rest) {
			return "", true
		}
		// "opencode/gpt-5" may be a model of that very name.
		if resolved, ok := m.lookup(rest); ok {
			return resolved, true
		}
	}
	return m.lookup(name)
}

func (m *models) isDefault(name string) bool {
	return name == "" || name == "default" || name == "unknown" || name == m.deflt
}

// addressed cuts "backend/" off a model name.
func (m *models) addressed(name string) (rest string, ok bool) {
	before, rest, found := strings.Cut(name, "/")
	return rest, found && rest != "" && slices.Contains(m.names, before)
}

func (m *models) lookup(name string) (string, bool) {
	if alias, ok := m.aliases[name]; ok {
		return alias, true
	}
	accepts := func(re *regexp.Regexp) bool { return re.MatchString(name) }
	return name, len(m.accept) == 0 || slices.ContainsFunc(m.accept, accepts)
}

// Claims reports whether the model name addresses this backend itself: by its
// name, its slug, its default model, or "backend/model".
func (m *models) Claims(name string) bool {
	name = strings.TrimSpace(name)
	_, addressed := m.addressed(name)
	return addressed || slices.Contains(m.names, name) || name != "" && name == m.deflt
}
