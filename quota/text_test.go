package quota_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/quota"
)

func TestParseReserve(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	require.NoError(t, err)
	for text, want := range map[string]quota.Reserve{
		"0.3":                {Share: 0.3},
		"0":                  {},
		"codex = 0.5":        {Backends: map[string]float64{"codex": 0.5}},
		"0.3, a=0.5 ,b=1":    {Share: 0.3, Backends: map[string]float64{"a": 0.5, "b": 1}},
		"1,18:00-24:00=0":    {Share: 1, Rules: []quota.Rule{{Hours: "18:00-24:00"}}},
		"sat-sun=0,fri=0.1":  {Rules: []quota.Rule{{Days: "sat-sun"}, {Days: "fri", Share: 0.1}}},
		"0.3,expiring=30m":   {Share: 0.3, UseExpiring: 30 * time.Minute},
		"zone=Europe/Berlin": {Location: berlin},
		"codex mon-fri 08:00-18:00=1,0.2": {
			Share: 0.2, Rules: []quota.Rule{{Backends: []string{"codex"}, Days: "mon-fri", Hours: "08:00-18:00", Share: 1}},
		},
	} {
		got, err := quota.ParseReserve(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
	}
}

func TestParseReserveErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                          `"" is no reserve: use a share such as 0.3, or "0.3,codex=0.5"`,
		"much":                      `"much" is no reserve: `,
		"codex=":                    `"codex=" is no reserve: `,
		"=0.3":                      `"=0.3" has no name`,
		"a b=0.3":                   `"a b=0.3": use at most one backend`,
		"sat 18:00-19:00 mon tue=0": "use at most one backend",
		"30":                        "share is 30: use a share from 0 to 1, such as 0.3 for 30 %",
		"a=2":                       "backends.a is 2: use a share",
		"25:00-26:00=0":             `rules[0].hours is "25:00-26:00": use a start and an end`,
		"expiring=soon":             `expiring is "soon": use a time with a unit`,
		"expiring=-1h":              "use_expiring is -1h0m0s: use a time from 0 to ",
		"zone=Berlin":               `zone is "Berlin": use the name of a time zone`,
	} {
		got, err := quota.ParseReserve(text)
		require.ErrorContains(t, err, want, text)
		require.True(t, got.IsZero())
	}
}
