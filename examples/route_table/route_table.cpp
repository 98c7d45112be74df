// Dispatches requests "METHOD PATH" to the handlers of a small web service and counts what was answered.
#include <algorithm>
#include <functional>
#include <iostream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

using Handler = std::function<std::string(const std::vector<std::string> &)>;

class Router {
public:
    void add(const std::string &path, Handler handler) { handlers_[normalize(path)] = std::move(handler); }

    std::string dispatch(const std::string &path) const
    {
        const auto [route, arguments] = split(path);
        return handlers_.at(normalize(route))(arguments);
    }

private:
    // "/a/b?x&y" is the route "/a/b" with the arguments x and y.
    static std::pair<std::string, std::vector<std::string>> split(const std::string &path)
    {
        const auto mark = path.find('?');
        std::vector<std::string> arguments;
        if (mark != std::string::npos) {
            std::istringstream rest(path.substr(mark + 1));
            for (std::string argument; std::getline(rest, argument, '&');)
                arguments.push_back(argument);
        }
        return {path.substr(0, mark), arguments};
    }

    // One slash between parts, and none at the end.
    static std::string normalize(const std::string &path)
    {
        std::string normal;
        for (const char letter : path)
            if (letter != '/' || normal.empty() || normal.back() != '/')
                normal += letter;
        const auto slashes = std::count(normal.begin(), normal.end(), '/');
        if (slashes > 2 && normal.back() == '/')
            normal.pop_back();
        return normal;
    }

    std::map<std::string, Handler> handlers_;
};

class Service {
public:
    Service()
    {
        router_.add("/", [](const auto &) { return std::string("welcome"); });
        router_.add("/status", [this](const auto &) { return std::to_string(answered_) + " answered"; });
        router_.add("/items/list", [](const auto &arguments) {
            return std::to_string(3 + arguments.size()) + " items";
        });
    }

    std::string answer(const std::string &path)
    {
        std::string text = router_.dispatch(path);
        answered_++;
        return text;
    }

private:
    Router router_;
    int answered_ = 0;
};

int main()
{
    Service service;
    for (std::string line; std::getline(std::cin, line);) {
        std::istringstream words(line);
        std::string method, path;
        if (!(words >> method >> path)) {
            std::cout << "400 bad request\n";
            continue;
        }
        if (method != "GET") {
            std::cout << "405 method not allowed\n";
            continue;
        }
        std::cout << "200 " << service.answer(path) << '\n';
    }
}
