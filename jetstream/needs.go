package jetstream

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/clichain/clichain"
)

// needs is what a worker must have to run a job. Jobs with equal needs are of one class, and workers take jobs by
// class. It holds no prompt, no value of a variable and no other content of a request: servers show it to their
// administrators.
type needs struct {
	// Protocol is the least protocol version of the worker.
	Protocol int `json:"protocol"`
	// Session is the backend whose session the job continues. Empty: none.
	Session string `json:"session,omitempty"`
	// Again says that a worker had the job before; see againLimit and againRefused. Empty: none had.
	Again string `json:"again,omitempty"`
	// Request has the fields of the request that decide who can run it: the model and the access, and, after a worker
	// has refused the job, the directories, options and names of variables.
	Request clichain.Request `json:"request"`
}

// The values of needs.Again.
const (
	againLimit   = "limit"   // a limit that does not show in the cooldowns of its worker
	againRefused = "refused" // for a reason that does not show in the other needs
)

// readyClass is the class of the jobs that are where workers of protocol 1 take them.
const readyClass = "ready"

// class is the token of the subjects of all jobs with these needs.
func (n *needs) class() string {
	data, _ := json.Marshal(n) // every field is plain
	sum := sha256.Sum256(data)
	return "n" + hex.EncodeToString(sum[:8])
}

// needs derives what a worker must have from the request.
func (e *envelope) needs() *needs {
	req := &e.Request
	n := &needs{Protocol: e.protocol(), Session: backendOf(req.Session), Again: e.Again}
	n.Request.Model, n.Request.Access = strings.TrimSpace(req.Model), req.Access
	if !e.Refined {
		return n
	}
	refined := req.Clone()
	n.Request.Dir, n.Request.Billing, n.Request.Options = refined.Dir, refined.Billing, refined.Options
	for name := range refined.Env {
		refined.Env[name] = ""
	}
	n.Request.Env = refined.Env
	// These hold texts and arguments, which may be secrets, or differ from job to job.
	o := &n.Request.Options
	if o.AppendSystem != "" {
		o.AppendSystem = "x"
	}
	o.Agents, o.MCPConfig, o.Extra, o.SessionID = nil, nil, nil, ""
	return n
}

// class is where the job waits: jobs of protocol 1 stay where workers of protocol 1 find them, until one refuses them.
func (e *envelope) class() string {
	if e.protocol() == firstProtocol && !e.Refined && e.Again == "" {
		return readyClass
	}
	return e.needs().class()
}

// coarse is what is left of the needs where the queue has too many classes.
func (n *needs) coarse() *needs { return &needs{Protocol: n.Protocol, Again: n.Again} }

// backendOf is the backend that made a session; empty for what is no session.
func backendOf(session string) string {
	if backend, _, told := strings.Cut(session, ":"); told {
		return backend
	}
	return session[:max(strings.LastIndexByte(session, '.'), 0)]
}

// String names the needs for people.
func (n *needs) String() string {
	parts := []string{}
	add := func(name, value string) {
		if value != "" {
			parts = append(parts, name+" "+value)
		}
	}
	if n.Protocol > protocol {
		add("protocol", fmt.Sprint(n.Protocol))
	}
	add("model", n.Request.Model)
	add("a session of", n.Session)
	if n.Request.Access > clichain.AccessNone {
		add("access", n.Request.Access.String())
	}
	add("directory", n.Request.Dir)
	if data, err := json.Marshal(n.Request.Options); err == nil && string(data) != "{}" {
		add("options", string(data))
	}
	for _, name := range slices.Sorted(maps.Keys(n.Request.Env)) {
		add("variable", name)
	}
	return cmp.Or(strings.Join(parts, ", "), "nothing but an answer")
}
