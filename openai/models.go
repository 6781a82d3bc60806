package openai

import (
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

// models serves the names of the chain and its backends. Only a CLI knows which models it has.
type models struct {
	names   []string
	created int64
}

func newModels(backends []string) *models {
	return &models{append([]string{request.ChainModel}, backends...), time.Now().Unix()}
}

func (m *models) model(name string) model { return model{name, "model", m.created, request.ChainModel} }

func (m *models) list(w *reply, _ *http.Request) *apierror.Error {
	list := make([]model, 0, len(m.names))
	for _, name := range m.names {
		list = append(list, m.model(name))
	}
	return w.json(map[string]any{"object": "list", "data": list})
}

// get accepts the names of the list, and every model of a backend.
func (m *models) get(w *reply, r *http.Request) *apierror.Error {
	name := r.PathValue("model")
	backend, model, slash := strings.Cut(name, "/")
	if !slices.Contains(m.names, backend) || slash && (model == "" || backend == request.ChainModel) {
		return apierror.Invalid(http.StatusNotFound, "model", "model_not_found",
			"there is no backend for the model %q: use %q, or the name of a backend, or backend/model",
			name, request.ChainModel)
	}
	return w.json(m.model(name))
}
