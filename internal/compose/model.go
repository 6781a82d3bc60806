package compose

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/clichain/clichain/clispec"
)

// models decides what a request's model name means to one backend.
type models struct {
	names        []string // what addresses this backend: its name and its slug
	defaultModel string
	aliases      map[string]string
	accept       []*regexp.Regexp
}

// newModels needs patterns that passed Validate. The caller's own aliases win.
func newModels(spec *clispec.Spec, own map[string]string) models {
	m := models{names: []string{spec.Name}, defaultModel: spec.DefaultModel, aliases: map[string]string{}}
	maps.Copy(m.aliases, spec.Models.Aliases)
	maps.Copy(m.aliases, own)
	if spec.ProviderSlug != "" && spec.ProviderSlug != spec.Name {
		m.names = append(m.names, spec.ProviderSlug)
	}
	for _, pattern := range spec.Models.Accept {
		m.accept = append(m.accept, regexp.MustCompile(`^(?:`+pattern+`)$`))
	}
	return m
}

// Resolve returns the name to give to the CLI, "" for the CLI's default, and
// false when the model belongs to another backend.
func (m *models) Resolve(name string) (string, bool) {
	name = strings.TrimSpace(name)
	if m.isDefault(name) || slices.Contains(m.names, name) {
		return "", true
	}
	if model, ok := m.addressed(name); ok {
		if m.isDefault(model) {
			return "", true
		}
		// Where this fails, the whole "backend/model" may be a model's name.
		if resolved, ok := m.lookup(model); ok {
			return resolved, true
		}
	}
	return m.lookup(name)
}

func (m *models) isDefault(name string) bool {
	return name == "" || name == "default" || name == "unknown" || name == m.defaultModel
}

// addressed cuts "backend/" off a model name.
func (m *models) addressed(name string) (model string, ok bool) {
	backend, model, _ := strings.Cut(name, "/")
	return model, model != "" && slices.Contains(m.names, backend)
}

// lookup finds what the CLI calls a model. An alias may stand for any name, but
// "backend/model" only for one of this backend.
func (m *models) lookup(name string) (string, bool) {
	alias, ok := m.aliases[name]
	switch {
	case !ok:
		return name, m.accepts(name)
	case !strings.Contains(alias, "/"):
		return alias, true
	}
	if model, ok := m.addressed(alias); ok {
		return model, true
	}
	return alias, m.accepts(alias)
}

func (m *models) accepts(name string) bool {
	matches := func(re *regexp.Regexp) bool { return re.MatchString(name) }
	return len(m.accept) == 0 || slices.ContainsFunc(m.accept, matches)
}

// Claims reports whether the model name, or what it is an alias for, addresses
// this backend itself: by its name, its slug, its default model, or "backend/model".
func (m *models) Claims(name string) bool {
	name = strings.TrimSpace(name)
	name = cmp.Or(m.aliases[name], name)
	_, addressed := m.addressed(name)
	return addressed || slices.Contains(m.names, name) || name != "" && name == m.defaultModel
}
