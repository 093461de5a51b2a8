/// One function per data set; dataset.cpp gives each its name and checks the settings before it calls one. Each fills
/// everything in a Dataset but name, and train and validation only where the split is not to be random or something
/// depends on it.
#pragma once

#include "engine/data/dataset.h"

namespace mantissa {

/// What a source gets: checked settings, the seed, and config.path made absolute or relative to the working directory.
struct DataRequest
{
    const DataConfig& config;
    std::uint64_t seed;
    std::filesystem::path path;
};

/// 1797 handwritten digits, 8 x 8 pixels, compiled in. resources/data/README.md.
Dataset loadDigits(const DataRequest& request);

/// n interleaved arms in a plane: arm j winds once around the origin from radius 0 to 2, turned by j / n of a circle,
/// with normal noise on both coordinates. Sample i lies on arm i mod n.
Dataset makeSpirals(const DataRequest& request);

/// Two interleaving half circles: (cos t, sin t) and (1 - cos t, 1/2 - sin t) for t in [0, pi), with normal noise on
/// both coordinates. The shapes of sklearn.datasets.make_moons. Sample i lies on moon i mod 2.
Dataset makeMoons(const DataRequest& request);

/// y = (a . x + 2 sin(b . x)) / sqrt(f) + noise, for x with f independent standard normal numbers and fixed a and b
/// with standard normal numbers drawn from the seed.
Dataset makeRegression(const DataRequest& request);

/// All p^2 sums modulo p, as the tokens a, +, b, =; after the last the sum is asked. Tokens 0 to p - 1 are numbers.
/// The random split leaves b + a in training for some a + b that is held out, as in the source.
/// Source: Power, Burda, Edwards, Babuschkin, Misra, "Grokking", 2022, section 3 and appendix A.1.
Dataset makeModularAddition(const DataRequest& request);

/// Words of random symbols, a separator, and the word again; from the separator on the next symbol is asked. In sort
/// the second word has the symbols of the first in ascending order. No word comes twice where there are at least twice
/// as many as samples, so that none that is held out was trained on.
Dataset makeCopy(const DataRequest& request);
Dataset makeSort(const DataRequest& request);

/// Words of brackets of three kinds and an end mark, after which "yes" or "no" is asked: is every bracket closed by its
/// own kind in the right order? Even samples are balanced, each such word as likely as any other; odd ones were, before
/// one of their brackets became another. No word comes twice, as in copy.
/// Source of the draw: Arnold, Sleep, "Uniform random generation of balanced parenthesis strings", TOPLAS 2(1), 1980.
Dataset makeBrackets(const DataRequest& request);

/// train-images-idx3-ubyte and train-labels-idx1-ubyte of a folder, plain or .gz.
Dataset loadMnist(const DataRequest& request);
Dataset loadFashionMnist(const DataRequest& request);

/// The binary version of CIFAR-10: those of data_batch_1.bin to data_batch_5.bin that a folder, or cifar-10-batches-bin
/// in it, has. Plain or .gz.
Dataset loadCifar10(const DataRequest& request);

/// A table of numbers and texts, of which one column is to be predicted from the others.
Dataset loadCsv(const DataRequest& request);

/// The characters of a text, each a token, in windows of data.context of them; after each its successor is asked. The
/// end of the text is held out: no character of it is read or asked in training.
Dataset loadText(const DataRequest& request);

} // namespace mantissa
