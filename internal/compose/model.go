package compose

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/clichain/clichain/clispec"
)

// models resolves model names for one backend.
type models struct {
	names        []string // the name and the slug of this backend
	defaultModel string
	use          string // for a request that names no model
	aliases      map[string]string
	accept       []*regexp.Regexp
}

// newModels compiles the model rules of a spec that passed Validate. The caller's aliases override those of the spec.
func newModels(spec *clispec.Spec, own map[string]string) models {
	m := models{
		names: []string{spec.Name}, defaultModel: spec.DefaultModel, use: strings.TrimSpace(spec.UseModel),
		aliases: map[string]string{},
	}
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

// Resolve returns the model name to pass to the CLI, "" for the CLI's default. It returns false if the model belongs to
// another backend. A name that selects no model stands for UseModel of the spec.
func (m *models) Resolve(name string) (string, bool) {
	name = strings.TrimSpace(name)
	if name == "" || slices.Contains(m.names, name) {
		name = m.use
	}
	if m.isDefault(name) || slices.Contains(m.names, name) {
		return "", true
	}
	if model, ok := m.addressed(name); ok {
		if m.isDefault(model) {
			return "", true
		}
		// If the lookup fails, a model may be named "backend/model" in full.
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

// lookup returns the CLI's name of a model. An alias may stand for any name, except for the "backend/model" of another
// backend.
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

// Claims reports whether the model name, or the name that it is an alias for, selects this backend: by the backend's
// name, slug or default model, or as "backend/model".
func (m *models) Claims(name string) bool {
	name = strings.TrimSpace(name)
	name = cmp.Or(m.aliases[name], name)
	_, addressed := m.addressed(name)
	return addressed || slices.Contains(m.names, name) || name != "" && name == m.defaultModel
}
