package openai

import (
	"net/http"
	"slices"
	"strings"
)

// model is one of the names that a request may have as its model.
type model struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	Created int64  `json:"created"`
	OwnedBy string `json:"owned_by"`
}

func (h *handler) model(name string) model { return model{name, "model", h.created, everyone} }

// listModels lists the chain and its backends. Which models each of them has, only its CLI could tell.
func (h *handler) listModels(w *reply, _ *http.Request) *apiError {
	list := []model{h.model(everyone)}
	for _, name := range h.Backends {
		list = append(list, h.model(name))
	}
	return w.json(map[string]any{"object": "list", "data": list})
}

// getModel knows what is listed, and any model of a backend that is.
func (h *handler) getModel(w *reply, r *http.Request) *apiError {
	name := r.PathValue("model")
	backend, of, whole := strings.Cut(name, "/")
	if name != everyone && (!slices.Contains(h.Backends, backend) || whole && of == "") {
		return mistake(http.StatusNotFound, "model", "model_not_found",
			"there is no backend for the model %q: use %q, or the name of a backend, or backend/model", name, everyone)
	}
	return w.json(h.model(name))
}
