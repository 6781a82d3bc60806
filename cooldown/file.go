package cooldown

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"
)

// File is a [QuotaStore] in files that all processes of a user share. Each update replaces a file atomically, so a
// process that is killed loses no stored value. The files contain no secrets, and only their owner can read them. A
// File is safe for concurrent use; make it with [NewFile].
type File struct {
	warn   func(error)
	states table[State]
	quotas table[Quota]

	mu   sync.Mutex
	told map[string]bool // the errors that were passed to warn
}

// NewFile returns a store in the file at path. Usage windows are in a second file beside it, whose name ends in
// ".quota.json" instead of ".json", because programs that do not know windows replace the first file. The first update
// creates the directory, but never the home directory. The cache directory of clichain must belong to this user and
// must not be a symbolic link. warn is called once for each different problem, such as a corrupt file that was renamed.
// A nil warn ignores problems.
func NewFile(path string, warn func(error)) *File {
	if warn == nil {
		warn = func(error) {}
	}
	s := &File{warn: warn, told: map[string]bool{}}
	s.states = newTable(path, stateRules, s.tell)
	s.quotas = newTable(quotaPath(path), quotaRules, s.tell)
	return s
}

func quotaPath(path string) string { return strings.TrimSuffix(path, ".json") + ".quota.json" }

var stateRules = rules[State]{
	field: "cooldowns",
	same:  func(a, b State) bool { return a == b },
	empty: func(s State) bool { return s == State{} },
	prune: prune,
}

// Load returns the State of the key. It waits for the lock only if the file is corrupt.
func (s *File) Load(ctx context.Context, key string) (State, error) {
	states, err := s.States(ctx)
	return states[key], err
}

// States returns all states by key, except stale ones. It waits as Load does.
func (s *File) States(ctx context.Context) (map[string]State, error) {
	states, err := s.states.load(ctx)
	return states, s.tell(err)
}

// Update replaces the State of the key. It fails if another process holds the lock for 200 ms.
func (s *File) Update(ctx context.Context, key string, change func(State) State) error {
	return s.tell(s.states.update(ctx, key, change))
}

// LoadQuota returns the Quota of the key. It waits as Load does.
func (s *File) LoadQuota(ctx context.Context, key string) (Quota, error) {
	quotas, err := s.Quotas(ctx)
	return quotas[key], err
}

// Quotas returns all keys with their values. It waits as Load does.
func (s *File) Quotas(ctx context.Context) (map[string]Quota, error) {
	quotas, err := s.quotas.load(ctx)
	return quotas, s.tell(err)
}

// UpdateQuota replaces the Quota of the key. It fails if another process holds the lock for 200 ms.
func (s *File) UpdateQuota(ctx context.Context, key string, change func(Quota) Quota) error {
	return s.tell(s.quotas.update(ctx, key, func(old Quota) Quota {
		now := time.Now()
		return change(old.Kept(now)).Kept(now)
	}))
}

// tell reports an error to warn once, and returns it. A canceled wait is not a problem of the file.
func (s *File) tell(err error) error {
	if err == nil || s.warn == nil || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return err
	}
	s.mu.Lock()
	known := s.told[err.Error()]
	s.told[err.Error()] = true
	s.mu.Unlock()
	if !known {
		s.warn(err)
	}
	return err
}
