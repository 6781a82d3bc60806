package openai

import (
	"log/slog"
	"strings"
	"sync"
)

// ignoredFields reports the fields of requests that the handler ignores.
type ignoredFields struct {
	log    *slog.Logger
	logged sync.Map // by path
}

// report names the fields in a header of the response, and logs each field at its first use. The paths are from the
// list of known fields, so their number is bounded.
func (f *ignoredFields) report(w *reply, paths []string) {
	if len(paths) == 0 {
		return
	}
	w.Header().Set(ignoredHeader, strings.Join(paths, ", "))
	for _, path := range paths {
		if _, before := f.logged.LoadOrStore(path, true); !before {
			f.log.Warn("CLIs do not support this field of requests, so it is ignored", "field", path)
		}
	}
}
