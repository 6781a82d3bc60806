package jetstream

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/clichain/clichain/cooldown"
	"github.com/clichain/clichain/jetstream/internal/store"
)

// quotaPrefix begins the keys of quotas in the bucket of the cooldowns.
const quotaPrefix = "quota."

func quotaKey(name string) string { return quotaPrefix + store.Key(name) }

func isQuotaKey(k string) bool { return strings.HasPrefix(k, quotaPrefix) }

// accountQuota is the Quota of one account. It is stored as a list of one value, because programs that know no quotas
// read every value of the bucket as a Cooldown, and ignore a list.
type accountQuota struct {
	Key   string         `json:"key"`
	Quota cooldown.Quota `json:"quota"`
}

var errNoQuota = errors.New("not a list of one quota")

func parseQuota(data []byte) (accountQuota, error) {
	var list []accountQuota
	if err := json.Unmarshal(data, &list); err != nil || len(list) != 1 {
		return accountQuota{}, errNoQuota
	}
	return list[0], nil
}

// LoadQuota returns the Quota of a key. It never fails and sends no request to the server.
func (s *Cooldowns) LoadQuota(_ context.Context, name string) (cooldown.Quota, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.quotas[quotaKey(name)].Quota.Kept(time.Now()), nil
}

// Quotas returns the Quota of every account by its key. It never fails and sends no request to the server.
func (s *Cooldowns) Quotas(context.Context) (map[string]cooldown.Quota, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	now, quotas := time.Now(), make(map[string]cooldown.Quota, len(s.quotas))
	for _, a := range s.quotas {
		if q := a.Quota.Kept(now); len(q.Windows) > 0 {
			quotas[a.Key] = q
		}
	}
	return quotas, nil
}

// UpdateQuota replaces the Quota of a key with a compare-and-set. The server removes a Quota after 60 days without an
// update. UpdateQuota fails as Update does.
func (s *Cooldowns) UpdateQuota(
	ctx context.Context, name string, change func(cooldown.Quota) cooldown.Quota,
) error {
	return s.replace(ctx, quotaKey(name), func(data []byte) ([]byte, error) {
		now := time.Now()
		old, _ := parseQuota(data) // an unreadable value counts as none
		next := change(old.Quota.Kept(now)).Kept(now)
		if len(next.Windows) == 0 {
			return nil, nil
		}
		return json.Marshal([]accountQuota{{name, next}})
	})
}
