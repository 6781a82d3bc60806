package login

import (
	"encoding/base64"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"
)

func TestCredentialExpiry(t *testing.T) {
	jwt := func(claims string) string {
		return `"h.` + base64.RawURLEncoding.EncodeToString([]byte(claims)) + `.s"`
	}
	end := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	for name, test := range map[string]struct {
		value string
		want  time.Time
	}{
		"seconds":            {fmt.Sprint(end.Unix()), end},
		"milliseconds":       {fmt.Sprint(end.UnixMilli()), end},
		"RFC 3339":           {`"2026-11-21T00:00:00Z"`, end},
		"JWT":                {jwt(fmt.Sprintf(`{"exp":%d}`, end.Unix())), end},
		"JWT without expiry": {jwt(`{}`), time.Time{}},
		"malformed JWT":      {`"a.b.c"`, time.Time{}},
		"null":               {`null`, time.Time{}},
		"words":              {`"soon"`, time.Time{}},
		"a negative number":  {`-1`, time.Time{}},
	} {
		t.Run(name, func(t *testing.T) {
			require.True(t, test.want.Equal(readExpiry(gjson.Parse(test.value))))
		})
	}
}
