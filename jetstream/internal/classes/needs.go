// Package classes sorts jobs by what a worker needs to run them, with a consumer for each class and priority.
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

// Protocol is the version of the jobs that this module writes, and the latest that its workers run. It grows whenever
// a job or a request gets a field, so that no worker runs a job that it knows only a part of.
const Protocol = 2

// FirstProtocol is the version of a job that names none.
const FirstProtocol = 1

// Needs is what a worker must have to run a job. Jobs with equal needs are of one class, and workers take jobs by
// class. It holds no prompt, no value of an environment variable and no other content of a request: servers show it
// to their administrators.
type Needs struct {
	// Protocol is the least protocol version of the worker.
	Protocol int `json:"protocol"`
	// Session is the backend whose session the job continues. Empty: none.
	Session string `json:"session,omitempty"`
	// Again says why a worker returned the job; see AgainLimit and AgainRefused. Empty: none did.
	Again string `json:"again,omitempty"`
	// Request has the fields of the request that decide who can run it: the model and the access, and, after a worker
	// has refused the job, the directories, options and names of environment variables.
	Request clichain.Request `json:"request"`
}

// The values of Needs.Again.
const (
	AgainLimit   = "limit"   // a limit that does not show in the cooldowns of its worker
	AgainRefused = "refused" // for a reason that does not show in the other needs
)

// Add adds the fields of a request: those that decide mostly, and where it is refined, all.
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
	// These hold texts and arguments, which may be secrets, or differ from job to job.
	o := &n.Request.Options
	if o.AppendSystem != "" {
		o.AppendSystem = "x"
	}
	o.Agents, o.MCPConfig, o.Extra, o.SessionID = nil, nil, nil, ""
}

// Class is the token of these needs in the subjects of jobs. Refined needs, and those of a returned job, are never of
// the class of protocol 1.
func (n *Needs) Class() string {
	data, _ := json.Marshal(n) // every field is plain
	sum := sha256.Sum256(data)
	return "n" + hex.EncodeToString(sum[:8])
}

// coarse is what is left of the needs where the queue has too many classes.
func (n *Needs) coarse() *Needs { return &Needs{Protocol: n.Protocol, Again: n.Again} }

// parseNeeds reads the needs of a class. Of those that a later version wrote, with fields that this one does not
// know, it reads the protocol. It returns nil for what is unreadable.
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

// BackendOf returns the backend that made a session; empty for what is no session.
func BackendOf(session string) string {
	if backend, _, ok := strings.Cut(session, ":"); ok {
		return backend
	}
	return session[:max(strings.LastIndexByte(session, '.'), 0)]
}

// String names the needs for people.
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
