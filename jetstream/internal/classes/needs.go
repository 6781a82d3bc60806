// Package classes sorts jobs by the needs that a worker must meet. Each class and priority has a consumer.
package classes

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
	"github.com/clichain/clichain/jetstream/internal/store"
)

// Protocol is the version of the jobs that this module writes, and the latest version that its workers run. It
// increases whenever a job or a request gets a new field, so that no worker runs a job that it knows only in part.
const Protocol = 4

// FirstProtocol is the version of a job without a version.
const FirstProtocol = 1

// Needs are the needs that a worker must meet to run a job. Jobs with equal needs form a class, and workers take jobs
// by class. Needs hold no prompt, no value of an environment variable and no other content of a request, because
// servers show them to their administrators.
type Needs struct {
	// Protocol is the lowest protocol version that the worker must have.
	Protocol int `json:"protocol"`
	// Session is the backend whose session the job continues. Empty: the job continues none.
	Session string `json:"session,omitempty"`
	// Again says why a worker returned the job; see AgainLimit and AgainRefused. Empty: no worker returned it.
	Again string `json:"again,omitempty"`
	// Shared is the priority of a class whose jobs have several owners. Empty: each group of jobs has its own consumer.
	Shared string `json:"shared,omitempty"`
	// Request has the fields of the request that decide which workers can run it: the model and the access. After a
	// worker has refused the job, it also has the directories, the options and the names of the environment variables.
	Request clichain.Request `json:"request"`
}

// Values of Needs.Again.
const (
	AgainLimit   = "limit"   // a limit that the cooldowns of the worker do not show
	AgainRefused = "refused" // a reason that the other needs do not show
)

// Add adds fields of a request: the model and the access or, if refined is set, all fields that decide.
func (n *Needs) Add(req *clichain.Request, refined bool) {
	n.Session = BackendOf(req.Session)
	n.Request.Model, n.Request.Access = strings.TrimSpace(req.Model), req.Access
	if !refined {
		return
	}
	all := req.Clone()
	for name := range all.Env {
		all.Env[name] = ""
	}
	n.Request.Dir, n.Request.Billing, n.Request.Options, n.Request.Env = all.Dir, all.Billing, all.Options, all.Env
	// These hold texts and arguments, which may be secrets or differ between jobs.
	o := &n.Request.Options
	if o.AppendSystem != "" {
		o.AppendSystem = "x"
	}
	o.Agents, o.MCPConfig, o.Extra, o.SessionID = nil, nil, nil, ""
}

// Class returns the token of these needs in the subjects of jobs. Refined needs and the needs of a returned job never
// have the class of protocol 1.
func (n *Needs) Class() string {
	data, _ := json.Marshal(n) // plain fields cannot fail
	sum := sha256.Sum256(data)
	return "n" + hex.EncodeToString(sum[:8])
}

// coarse returns the needs to use if the queue has too many classes.
func (n *Needs) coarse() *Needs { return &Needs{Protocol: n.Protocol, Again: n.Again} }

// shared returns the needs to use if the queue has too many owners.
func (n *Needs) shared(priority string) *Needs {
	n = n.coarse()
	n.Shared = priority
	return n
}

// parseNeeds reads the needs of a class. If a later version wrote them with fields that this version does not know,
// it reads only the protocol. It returns nil for unreadable text.
func parseNeeds(text string) *Needs {
	n := new(Needs)
	if json.Unmarshal([]byte(text), n) == nil && n.Protocol > 0 {
		return n
	}
	var later struct{ Protocol int }
	if json.Unmarshal([]byte(text), &later) != nil {
		return nil
	}
	return &Needs{Protocol: max(later.Protocol, Protocol+1)}
}

// BackendOf returns the backend that made a session; empty if the text is no session.
func BackendOf(session string) string {
	if backend, _, ok := strings.Cut(session, ":"); ok {
		return backend
	}
	return session[:max(strings.LastIndexByte(session, '.'), 0)]
}

// String describes the needs for people.
func (n *Needs) String() string {
	if n == nil {
		return "a worker of a later version"
	}
	parts := []string{}
	add := func(name, value string) {
		if value != "" {
			parts = append(parts, name+" "+value)
		}
	}
	if n.Protocol > Protocol {
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

// Ready is the class of the jobs that workers of protocol 1 take.
const Ready = store.ReadyClass
