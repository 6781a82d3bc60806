package jetstream

import (
	"context"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/clichain/clichain"
)

// maxRefusal bounds what a worker says of a class that it does not take, in bytes.
const maxRefusal = 300

// announce adds what the worker can do to what it says of itself.
func (w *worker) announce(ctx context.Context, s *WorkerStatus) {
	s.Version, s.Protocol, s.Platform = version(), w.protocol, runtime.GOOS+"/"+runtime.GOARCH
	s.Backends = []string{w.backend.Name()}
	if w.Chain != nil {
		s.Backends = nil
		for _, b := range w.Chain.Backends() {
			s.Backends = append(s.Backends, b.Name())
		}
	}
	s.Access, s.Models, s.Dirs = w.Permissions.Access, w.Permissions.Models, w.Permissions.Dirs
	if len(s.Dirs) == 0 && s.Access > clichain.AccessNone {
		s.Dirs = []string{"."}
	}
	s.Takes, s.Refuses = map[string]time.Time{}, map[string]string{}
	for _, t := range w.q.takers.list() {
		switch o := w.outlook(ctx, t.class, t.needs); {
		case o.why == "":
			s.Takes[t.class] = o.until.UTC()
		case len(o.why) > maxRefusal:
			s.Refuses[t.class] = strings.ToValidUTF8(firstLine(o.why[:maxRefusal]), "") + "…"
		default:
			s.Refuses[t.class] = firstLine(o.why)
		}
	}
}

// version is that of the module of this package in the program.
var version = sync.OnceValue(func() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, m := range append(info.Deps, &info.Main) {
		if strings.HasPrefix("github.com/clichain/clichain/jetstream", m.Path) && m.Path != "" {
			return m.Version
		}
	}
	return info.Main.Version
})
