package openai

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/clichain/clichain/openai/internal/apierror"
	"github.com/clichain/clichain/openai/internal/request"
)

// model is a name that a request can have as its model.
type model struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	Created int64  `json:"created"`
	OwnedBy string `json:"owned_by"`
}

// models knows the names that a request can have as its model: the chain, its backends, the aliases, and the models
// that the CLIs list.
type models struct {
	config  *Config
	lists   modelLists
	created int64
}

func newModels(c *Config) *models {
	return &models{c, modelLists{read: c.ListModels, busy: make(chan struct{}, 1)}, time.Now().Unix()}
}

// names returns all names. Some CLIs need seconds for their list.
func (m *models) names(ctx context.Context) []string {
	return slices.Concat(
		[]string{request.ChainModel}, m.config.Backends, slices.Sorted(maps.Keys(m.config.ModelAliases)), m.lists.get(ctx),
	)
}

// resolve returns the model of the library's request for the model of a request.
func (m *models) resolve(ctx context.Context, name string) string {
	if target, ok := m.config.ModelAliases[name]; ok {
		return request.Model(target)
	}
	if name == "" || m.config.DefaultModel == "" || m.addressed(name) || m.listed(ctx, name) {
		return name
	}
	return request.Model(m.config.DefaultModel)
}

// addressed reports whether a name is that of a backend, or of a model of a named backend.
func (m *models) addressed(name string) bool {
	backend, model, slash := strings.Cut(name, "/")
	return slices.Contains(m.config.Backends, backend) && (!slash || model != "")
}

// listed reports whether a CLI lists a model, with or without the name of its backend.
func (m *models) listed(ctx context.Context, name string) bool {
	return slices.ContainsFunc(m.lists.get(ctx), func(entry string) bool {
		_, model, _ := strings.Cut(entry, "/")
		return entry == name || model == name
	})
}

func (m *models) model(name string) model {
	owner, _, slash := strings.Cut(name, "/")
	if !slash || !m.addressed(name) {
		owner = request.ChainModel
	}
	return model{name, "model", m.created, owner}
}

func (m *models) list(w *reply, r *http.Request) *apierror.Error {
	names := m.names(r.Context())
	list := make([]model, 0, len(names))
	for _, name := range names {
		list = append(list, m.model(name))
	}
	return w.json(map[string]any{"object": "list", "data": list})
}

// get accepts the names of the list, and every model of a backend.
func (m *models) get(w *reply, r *http.Request) *apierror.Error {
	name := r.PathValue("model")
	if !m.addressed(name) && !slices.Contains(m.names(r.Context()), name) {
		return apierror.Invalid(http.StatusNotFound, "model", "model_not_found",
			"there is no model %q: use a name of /v1/models, such as %q, or backend/model", name, request.ChainModel)
	}
	return w.json(m.model(name))
}
