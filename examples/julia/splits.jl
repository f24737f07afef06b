# Splits of a data set: drawn at random, with a number per class, or given as lists; listed, selected,
# and read back. Trains a model on each of five random splits and prints the mean.
include("common.jl")

function main()
    context = open_context()
    _, data = planted_data(context, 3000) # has a split "random"
    # [random]
    for seed in 0:4
        add_random_split!(data, "rand602020"; train_fraction = 0.6, validation_fraction = 0.2, seed = seed)
    end
    # [random]
    # As in Planetoid's.
    add_random_split!(data, "few labels"; train_per_class = 20, validation_per_class = 30)
    add_split!(data, "by hand"; train = 0:7, validation = 8:9, test = 10:12)
    for split in splits(data)
        @printf("%s %d: %d, %d, %d\n", split.name, split.index, split.num_train, split.num_validation,
                split.num_test)
    end

    nodes = split_ids(select_split(data, "few labels"), :train)
    @printf("few labels: trained on %d nodes, the first is %d\n", length(nodes), nodes[1])

    sampler = Sampler(Graph(data))
    mean = 0.0
    for index in 0:4
        selected = select_split(data, "rand602020", index) # shares the data
        accuracy = train_small_model(context, selected, sampler, 4).accuracy
        @printf("split %d: test accuracy %.4f\n", index, accuracy)
        mean += accuracy / 5
    end
    @printf("mean %.4f\n", mean)
end

main()
