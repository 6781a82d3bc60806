package selection

import (
	"time"

	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/clichain/clichain/conversation"
)

// Conversations returns the store of this user's conversations, or failed if it cannot be used. err is an invalid
// setting.
func (r *Resolver) Conversations() (store *conversation.Store, failed, err error) {
	s, err := r.Settings()
	if err != nil {
		return nil, nil, err
	}
	if err := s.Invalid["conversations.age"]; err != nil {
		return nil, nil, err
	}
	if age := time.Duration(s.ConversationsAge); age > 0 && age < conversation.MinMaxAge {
		origin := s.origin("conversations.age")
		return nil, nil, console.Usagef("%s: is %v: use at least %v", origin, age, conversation.MinMaxAge)
	}
	dir, failed := conversation.DefaultDir()
	if failed == nil {
		store, failed = conversation.OpenStore(dir, time.Duration(s.ConversationsAge))
	}
	return store, failed, nil
}
