package gnnmg

import (
	"errors"
	"math"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Settings are written as the library reads them, and only those that options change.
func TestSettingsAreTexts(t *testing.T) {
	model := func(option func(*ModelConfig)) string { return changed([]func(*ModelConfig){nil, option}) }
	file := func(layer string) string {
		return changed([]func(*ModelFileConfig){func(c *ModelFileConfig) { c.FirstLayer = layer }})
	}
	for got, want := range map[string]string{
		model(nil): "",
		model(func(c *ModelConfig) { c.Heads = 1 }):                                                 "",
		model(func(c *ModelConfig) { c.Heads = 8 }):                                                 "heads=8",
		model(func(c *ModelConfig) { c.Heads = -8 }):                                                "heads=-8",
		model(func(c *ModelConfig) { c.Architecture, c.Jumping = ArchitectureGATv2, JumpingCat }):   "architecture=gatv2 jumping=cat",
		model(func(c *ModelConfig) { c.Architecture = 99 }):                                         "architecture=99",
		model(func(c *ModelConfig) { c.Bias, c.Normalize = false, true }):                           "bias=0 normalize=1",
		model(func(c *ModelConfig) { c.Dropout = 0.1 }):                                             "dropout=0.1",
		model(func(c *ModelConfig) { c.Dropout = 1.0 / 3 }):                                         "dropout=0.3333333333333333",
		model(func(c *ModelConfig) { c.NegativeSlope = 1e-300 }):                                    "negative_slope=1e-300",
		model(func(c *ModelConfig) { c.Dropout = math.NaN() }):                                      "dropout=NaN",
		model(func(c *ModelConfig) { c.Seed = math.MaxUint64 }):                                     "seed=18446744073709551615",
		model(func(c *ModelConfig) { c.NodeVocabulary = []int64{9, 2} }):                            "node_vocabulary=9,2",
		model(func(c *ModelConfig) { c.Scalers = []PNAScaler{PNAScalerLinear, PNAScalerIdentity} }): "scalers=linear,identity",
		changed([]func(*PartsConfig){func(c *PartsConfig) { c.Fanouts = nil }}):                     "fanouts=none",
		file("conv1"):      "first_layer=conv1",
		file("my layer"):   `first_layer="my layer"`,
		file(`a"b\c`):      `first_layer="a\"b\\c"`,
		file("a\theads=8"): "first_layer=\"a\theads=8\"",
		changed([]func(*ServedConfig){func(c *ServedConfig) { c.Patience = 1500 * time.Microsecond }}): "patience_ms=2",
	} {
		if got != want {
			t.Errorf("got %q, expected %q", got, want)
		}
	}
}

func TestChoicesAreWords(t *testing.T) {
	var architecture Architecture
	if err := architecture.UnmarshalText([]byte("gin")); err != nil || architecture != ArchitectureGIN {
		t.Errorf("%v, %v", architecture, err)
	}
	if err := architecture.UnmarshalText([]byte("gni")); !errors.Is(err, ErrInvalidArgument) {
		t.Error(err)
	}
	if text, err := LossFocal.MarshalText(); err != nil || string(text) != "focal" {
		t.Errorf("%s, %v", text, err)
	}
}

// The fields of a Config are the library's settings, with its defaults.
func TestDefaultsAreTheLibrarys(t *testing.T) {
	compare := func(subject string, config reflect.Value) {
		all, err := Settings(subject)
		if err != nil || len(all) != config.NumField() {
			t.Fatalf("%s has %d settings, its struct %d: %v", subject, len(all), config.NumField(), err)
		}
		for i, s := range all {
			name, _, _ := strings.Cut(config.Type().Field(i).Tag.Get("json"), ",")
			value := settingText(config.Field(i))
			if number, err := strconv.ParseFloat(s.Default, 64); err == nil && config.Field(i).Kind() == reflect.Float64 {
				s.Default = strconv.FormatFloat(number, 'g', -1, 64)
			}
			if config.Field(i).Kind() == reflect.Slice && s.Default == "" {
				s.Default = "none"
			}
			if s.Name != name || s.Default != value || s.Help == "" {
				t.Errorf("%s: %s is %q, in the library it is %s, %q: %s", subject, name, value, s.Name, s.Default, s.Help)
			}
		}
	}
	defaultsOf[DatasetConfig](compare)
	defaultsOf[SplitConfig](compare)
	defaultsOf[FoldsConfig](compare)
	defaultsOf[PartsConfig](compare)
	defaultsOf[ServedConfig](compare)
	defaultsOf[SamplerConfig](compare)
	defaultsOf[LoaderConfig](compare)
	defaultsOf[ModelConfig](compare)
	defaultsOf[NormConfig](compare)
	defaultsOf[ModelFileConfig](compare)
	defaultsOf[OptimizerConfig](compare)
	defaultsOf[TrainerConfig](compare)
	defaultsOf[PredictorConfig](compare)
	defaultsOf[PlantedConfig](compare)
	defaultsOf[LogNormalConfig](compare)
	defaultsOf[RmatConfig](compare)
	defaultsOf[ErdosRenyiConfig](compare)
	if _, err := Settings("colors"); !errors.Is(err, ErrNotFound) {
		t.Error(err)
	}
}

func defaultsOf[C any, P configOf[C]](compare func(subject string, config reflect.Value)) {
	var c C
	P(&c).setDefaults()
	compare(P(&c).subject(), reflect.ValueOf(c))
}
