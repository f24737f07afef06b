package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
)

const firstPage = `Usage: train [OPTION]... DATASET

Trains a model for classes (or numbers) of nodes, or of graphs with --readout, on every
format that libgnnmg reads, evaluates it on the test part of the split, and prints where
the time went.

Examples
  train planted                                  on a generated graph
  train --ranks 2 --epochs 10 planted:20000      with two ranks that share each step
  train --model gcn --save gcn.safetensors cora  on the data set in the folder cora

DATASET is a folder or file, or a graph that is generated in memory:
  planted[:NODES]        ten classes, noisy features (50000 nodes)
  products[:NODES]       shaped like a co-purchase network, planted labels (244903 nodes)
or served:HOST:PORT,...  by programs gnnmg-server, which have its parts

The options that most trainings need, with their defaults
  --model M              sage, gcn, gat, gin and others (sage)
  --layers N, --hidden N layers, hidden width (2, 64)
  --fanouts A,B,...      neighbors per hop, nearest to the seeds first (10,10)
  --epochs N             epochs (20)
  --batch-size N         seeds a mini-batch (1024)
  --lr X                 learning rate (0.003)
  --ranks N              replicas, each in a thread of its own (one a GPU, or one)
  --save FILE            weights, .safetensors or .pth

All others, by topic: train --help=TOPIC
`

// topics are the groups of options, in the order of the help.
var topics = []struct {
	name, title string
	define      func(o *options, flags *flag.FlagSet)
}{
	{"data", "Data", (*options).defineData},
	{"model", "Model", (*options).defineModel},
	{"sampling", "Sampling", (*options).defineSampling},
	{"training", "Training", (*options).defineTraining},
	{"devices", "Devices", (*options).defineDevices},
	{"processes", "Several processes: started by torchrun, srun or mpirun they find each other, or by hand with",
		(*options).defineProcesses},
	{"parts", "A folder of parts, in several processes: that all share, or with some parts in each", (*options).defineParts},
	{"output", "Output: of process 0 alone", (*options).defineOutput},
}

// printHelp prints the options of a topic, of all of them, or the first page ("true": no topic).
func printHelp(topic string) {
	if topic == "true" {
		names := make([]string, len(topics))
		for i, t := range topics {
			names[i] = t.name
		}
		fmt.Printf("%s  %s, all\n", firstPage, strings.Join(names, ", "))
		return
	}
	known := false
	for _, t := range topics {
		if topic != t.name && topic != "all" {
			continue
		}
		known = true
		fmt.Println(t.title)
		flags := flag.NewFlagSet("train", flag.ContinueOnError)
		flags.SetOutput(os.Stdout)
		t.define(&options{}, flags)
		flags.PrintDefaults()
	}
	if !known {
		refuse("--help %s: expected a topic of train --help", topic)
	}
}
