# cmake -D INPUT=<file> -D OUTPUT=<file.cpp> -D NAME=<function> -D HEADER=<its header> -P embed_file.cmake
# Writes a source whose function mantissa::NAME() returns the bytes of INPUT, so that the engine needs no file at run time.
file(READ ${INPUT} bytes HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
file(WRITE ${OUTPUT} "#include \"${HEADER}\"
namespace {
constexpr unsigned char bytes[] = {${bytes}};
}
std::span<const unsigned char> mantissa::${NAME}()
{
    return bytes;
}
")
