package clichain

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

// models decides what a request's model name means to one backend.
type models struct {
	names   []string // what addresses this backend: its name and its slug
	deflt   string
	aliases map[string]string
	accept  []*regexp.Regexp
}

func newModels(spec *CliSpec) (models, error) {
	m := models{deflt: spec.DefaultModel, aliases: spec.Models.Aliases, names: []string{spec.Name}}
	if spec.ProviderSlug != "" && spec.ProviderSlug != spec.Name {
		m.names = append(m.names, spec.ProviderSlug)
	}
	for _, pattern := range spec.Models.Accept {
		re, err := regexp.Compile(pattern)
		if err != nil {
			return m, err
		}
		m.accept = append(m.accept, re)
	}
	return m, nil
}

// pin adds the caller's own names.
func (m *models) pin(aliases map[string]string) {
	all := map[string]string{}
	maps.Copy(all, m.aliases)
	maps.Copy(all, aliases)
	m.aliases = all
}

// resolve returns the name to give to the CLI, "" to leave the choice to it,
// and false when the model is another backend's.
func (m *models) resolve(name string) (string, bool) {
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

// claims reports whether the model name addresses this backend itself: by its
// name, its slug, its default model, or "backend/model".
func (m *models) claims(name string) bool {
	name = strings.TrimSpace(name)
	_, addressed := m.addressed(name)
	return addressed || slices.Contains(m.names, name) || name != "" && name == m.deflt
}
